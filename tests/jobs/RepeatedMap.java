import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.NullOutputFormat;

/**
 * Submits a MapReduce job whose only map has to be repeated while its reducers run. In the folder of
 * the job, {@code input} has one line; the map's first attempt makes {@code mapping}, and ends
 * without a word once {@code halt} is there. The ApplicationMaster hears of that from the
 * ResourceManager, so a reducer that waits gets the room of the map before the map asks again.
 */
public final class RepeatedMap {
  private static final String FOLDER = "test.folder";
  private static final long LOOK_EVERY_MS = 200;

  private RepeatedMap() {}

  public static void main(String[] arguments) throws Exception {
    Configuration conf = new Configuration();
    if (arguments.length != 2) {
      throw new IllegalArgumentException("usage: RepeatedMap NAME FOLDER");
    }
    conf.set(FOLDER, arguments[1]);
    Job job = Job.getInstance(conf, arguments[0]);
    job.setMapperClass(Once.class);
    job.setMapOutputKeyClass(LongWritable.class);
    job.setMapOutputValueClass(Text.class);
    job.setOutputFormatClass(NullOutputFormat.class);
    FileInputFormat.addInputPath(
        job, new org.apache.hadoop.fs.Path(Paths.get(arguments[1], "input").toUri()));
    job.submit();
  }

  /** Passes its input on, in its second attempt. */
  public static final class Once extends Mapper<LongWritable, Text, LongWritable, Text> {
    @Override
    protected void setup(Context context) throws IOException, InterruptedException {
      if (context.getTaskAttemptID().getId() > 0) {
        return;
      }
      Path folder = Paths.get(context.getConfiguration().get(FOLDER));
      Files.createFile(folder.resolve("mapping"));
      while (!Files.exists(folder.resolve("halt"))) {
        Thread.sleep(LOOK_EVERY_MS);
      }
      Runtime.getRuntime().halt(1);
    }
  }
}
