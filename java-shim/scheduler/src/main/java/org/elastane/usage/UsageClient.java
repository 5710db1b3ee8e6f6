package org.elastane.usage;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.util.List;
import javax.net.SocketFactory;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonConfigurationKeys;
import org.apache.hadoop.ipc.ProtobufRpcEngine2;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.ipc.RemoteException;
import org.apache.hadoop.net.ConnectTimeoutException;
import org.apache.hadoop.net.NetUtils;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.elastane.conf.UsageAddresses;
import org.elastane.usage.proto.UsageProtos.ReportRequestProto;
import org.elastane.usage.proto.UsageProtos.ReportResponseProto;

/**
 * Calls {@link UsageProtocol} on the active ResourceManager, as the logged-in user.
 *
 * <p>Tries each ResourceManager once; further retries are the caller's. Not thread-safe.
 */
public final class UsageClient implements AutoCloseable {
  /** The user of the calls, read for each connection since a login is renewed. */
  interface Login {
    UserGroupInformation user() throws IOException;
  }

  private static final int CONNECT_TIMEOUT_MS = 3000;
  private static final int CALL_TIMEOUT_MS = 5000;

  private final Configuration conf;
  private final SocketFactory sockets;
  private final Login login;
  private UsageProtocol connection;
  private int active;

  public UsageClient(Configuration conf) {
    this(conf, NetUtils.getDefaultSocketFactory(conf), UserGroupInformation::getLoginUser);
  }

  /**
   * @param sockets makes the client's sockets
   */
  UsageClient(Configuration conf, SocketFactory sockets, Login login) {
    this.conf = new Configuration(conf);
    this.conf.setInt(CommonConfigurationKeys.IPC_CLIENT_CONNECT_MAX_RETRIES_KEY, 0);
    this.conf.setInt(
        CommonConfigurationKeys.IPC_CLIENT_CONNECT_MAX_RETRIES_ON_SOCKET_TIMEOUTS_KEY, 0);
    this.conf.setInt(CommonConfigurationKeys.IPC_CLIENT_CONNECT_MAX_RETRIES_ON_SASL_KEY, 1);
    this.conf.setInt(CommonConfigurationKeys.IPC_CLIENT_CONNECT_TIMEOUT_KEY, CONNECT_TIMEOUT_MS);
    RPC.setProtocolEngine(this.conf, UsageProtocol.class, ProtobufRpcEngine2.class);
    this.sockets = new OwnSocketFactory(sockets);
    this.login = login;
  }

  /**
   * Hands in a report.
   *
   * @return the reply
   * @throws ReportRefusedException if a ResourceManager refused the report
   * @throws IOException if no ResourceManager answered; the last failure of one that was reached,
   *     if there is one
   */
  public UsageReply report(NodeId node, int version, byte[] body) throws IOException {
    ReportRequestProto request =
        ReportRequestProto.newBuilder()
            .setNode(node.toString())
            .setVersion(version)
            .setBody(ByteString.copyFrom(body))
            .build();
    // Resolved for each call: a ResourceManager may return at another address.
    List<InetSocketAddress> addresses = UsageAddresses.toConnect(conf);
    IOException last = null;
    for (int attempt = 0; attempt < addresses.size(); attempt++) {
      try {
        return call(addresses.get(active % addresses.size()), request);
      } catch (ReportRefusedException e) {
        throw e;
      } catch (IOException e) {
        // A standby is not reached; that must not hide why the active one failed.
        if (last == null || !isUnreached(e)) {
          last = e;
        }
        close();
        active = (active + 1) % addresses.size();
      }
    }
    throw last == null ? new IOException("no ResourceManager is configured") : last;
  }

  /** Closes the connection; the next report opens another. */
  @Override
  public void close() {
    if (connection != null) {
      RPC.stopProxy(connection);
      connection = null;
    }
  }

  private UsageReply call(InetSocketAddress address, ReportRequestProto request)
      throws IOException {
    if (connection == null) {
      connection =
          RPC.getProxy(
              UsageProtocol.class,
              UsageProtocol.VERSION,
              address,
              login.user(),
              conf,
              sockets,
              CALL_TIMEOUT_MS);
    }
    try {
      ReportResponseProto response = connection.report(null, request);
      return new UsageReply(response.getVersion(), response.getBody().toByteArray());
    } catch (ServiceException e) {
      throw unwrapped(e);
    }
  }

  private static boolean isUnreached(IOException e) {
    return e instanceof ConnectException
        || e instanceof ConnectTimeoutException
        || e instanceof NoRouteToHostException
        || e instanceof UnknownHostException;
  }

  private static IOException unwrapped(ServiceException e) {
    if (e.getCause() instanceof RemoteException) {
      return ((RemoteException) e.getCause()).unwrapRemoteException(ReportRefusedException.class);
    }
    return e.getCause() instanceof IOException ? (IOException) e.getCause() : new IOException(e);
  }
}
