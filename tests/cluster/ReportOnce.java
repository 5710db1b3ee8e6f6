import java.io.IOException;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.elastane.usage.UsageClient;

/** Reports once for a node, as the ticket's owner, and prints what came of it. */
final class ReportOnce {
  private ReportOnce() {}

  public static void main(String[] arguments) {
    YarnConfiguration conf = new YarnConfiguration();
    UserGroupInformation.setConfiguration(conf);
    try (UsageClient client = new UsageClient(conf)) {
      client.report(NodeId.fromString(arguments[0]), 1, new byte[] {1});
      System.out.println("taken");
    } catch (IOException e) {
      System.out.println("refused: " + e);
    }
  }
}
