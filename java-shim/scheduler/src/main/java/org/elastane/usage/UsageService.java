package org.elastane.usage;

import java.io.IOException;
import org.apache.hadoop.thirdparty.com.google.common.base.Ticker;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.apache.hadoop.thirdparty.protobuf.RpcController;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.elastane.usage.proto.UsageProtos.ReportRequestProto;
import org.elastane.usage.proto.UsageProtos.ReportResponseProto;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Implements {@link UsageProtocol}: verifies the caller, bounds number and size, and hands the body
 * on unread. A refused report is counted, logged once, and answered with {@link
 * ReportRefusedException}; it changes nothing else.
 */
final class UsageService implements UsageProtocol {
  private static final Logger LOG = LoggerFactory.getLogger(UsageService.class);
  private static final int MAX_STRANGERS_IN_LOG = 4096;
  private static final int MAX_NODE_CHARACTERS = 300;

  private final CallerIdentity identity;
  private final ReportHandler handler;
  private final UsageMetrics metrics;
  private final ReportRates rates = new ReportRates(Ticker.systemTicker());
  private final RefusalLog refusals = new RefusalLog(LOG, MAX_STRANGERS_IN_LOG);

  UsageService(CallerIdentity identity, ReportHandler handler, UsageMetrics metrics) {
    this.identity = identity;
    this.handler = handler;
    this.metrics = metrics;
  }

  @Override
  public ReportResponseProto report(RpcController controller, ReportRequestProto request)
      throws ServiceException {
    String claimed = printable(request.getNode());
    try {
      NodeId node = parse(claimed);
      // 08041 and +8041 are the same port: one node has one name in the log.
      claimed = node.toString();
      byte[] reply = take(Caller.current(), node, request);
      metrics.reports.incr();
      refusals.accepted(claimed);
      return ReportResponseProto.newBuilder()
          .setVersion(request.getVersion())
          .setBody(ByteString.copyFrom(reply))
          .build();
    } catch (ReportRefusedException e) {
      metrics.refused.incr();
      refusals.refused(claimed, e);
      throw new ServiceException(e);
    }
  }

  private byte[] take(Caller caller, NodeId node, ReportRequestProto request)
      throws ReportRefusedException {
    identity.verify(caller, node);
    rates.count(node);
    if (request.getBody().size() > UsageProtocol.MAX_BODY_BYTES) {
      throw new ReportRefusedException(
          RefusalReason.TOO_LARGE,
          "the body has "
              + request.getBody().size()
              + " bytes, more than the allowed "
              + UsageProtocol.MAX_BODY_BYTES);
    }
    try {
      return handler.report(node, request.getVersion(), request.getBody().toByteArray());
    } catch (IllegalArgumentException e) {
      throw new ReportRefusedException(RefusalReason.REFUSED_BODY, String.valueOf(e.getMessage()));
    } catch (IOException e) {
      throw new ReportRefusedException(
          RefusalReason.OUT_OF_SERVICE, String.valueOf(e.getMessage()));
    }
  }

  private static NodeId parse(String claimed) throws ReportRefusedException {
    try {
      return NodeId.fromString(claimed);
    } catch (IllegalArgumentException e) {
      throw new ReportRefusedException(
          RefusalReason.MALFORMED_NODE, "'" + claimed + "' is not host:port");
    }
  }

  /** The unverified name as it may be logged. */
  private static String printable(String node) {
    String cut = node.substring(0, Math.min(node.length(), MAX_NODE_CHARACTERS));
    return cut.replaceAll("[^\\x21-\\x7e]", "?");
  }
}
