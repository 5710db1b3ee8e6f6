import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.apache.spark.deploy.InProcessSparkSubmit;

/**
 * Runs spark-submit for each line of standard input, the arguments separated by tabs, and answers
 * each with one line. One JVM for all submissions, so that starting it is no part of what is
 * measured.
 */
final class Submitter {
  private Submitter() {}

  public static void main(String[] ignored) throws Exception {
    PrintStream answers = System.out;
    // Spark prints to standard output too; answers must be told apart from that.
    System.setOut(System.err);
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      answers.println(submit(line.split("\t")));
      answers.flush();
    }
    // Spark leaves threads that are no daemons.
    System.exit(0);
  }

  private static String submit(String[] arguments) {
    try {
      InProcessSparkSubmit.main(arguments);
      return "submitted";
    } catch (Throwable failure) {
      failure.printStackTrace();
      return "failed: " + failure.toString().replace('\n', ' ');
    }
  }
}
