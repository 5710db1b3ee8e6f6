package org.elastane.usage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.net.InetAddress;
import org.apache.hadoop.test.GenericTestUtils.LogCapturer;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.elastane.usage.proto.UsageProtos.ReportRequestProto;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** A caller without an address, as outside of an RPC: every report of the node is refused. */
class UsageServiceTest {
  private static final NodeId NODE = NodeId.newInstance("127.0.0.1", 8041);

  private final UsageService service =
      new UsageService(
          new CallerIdentity(
              NODE::equals, new HostAddresses(InetAddress::getAllByName, () -> 0, 9, 2, 0), null),
          (node, version, body) -> body,
          UsageMetrics.register());

  @Test
  void aNodeHasOneNameInTheLogHoweverACallerSpellsIt() {
    LogCapturer output = LogCapturer.captureLogs(LoggerFactory.getLogger(UsageService.class));
    try {
      for (String spelled :
          new String[] {"127.0.0.1:8041", "127.0.0.1:08041", "127.0.0.1:+8041:"}) {
        ReportRequestProto request =
            ReportRequestProto.newBuilder()
                .setNode(spelled)
                .setVersion(1)
                .setBody(ByteString.EMPTY)
                .build();
        assertThrows(ServiceException.class, () -> service.report(null, request));
      }
    } finally {
      output.stopCapturing();
    }
    assertEquals(1, output.getOutput().lines().count(), output.getOutput());
  }
}
