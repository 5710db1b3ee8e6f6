package org.elastane.usage;

import java.net.InetAddress;
import org.apache.hadoop.ipc.Server;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.UserGroupInformation.AuthenticationMethod;

/** The caller of an RPC: its address and, with Kerberos, its principal. */
final class Caller {
  private final InetAddress address;
  private final String user;
  private final boolean kerberos;

  /**
   * @param kerberos whether Kerberos authenticated {@code user}, rather than a token or a proxy
   *     user
   */
  Caller(InetAddress address, String user, boolean kerberos) {
    this.address = address;
    this.user = user;
    this.kerberos = kerberos;
  }

  /** The caller of the RPC that this thread handles. */
  static Caller current() {
    UserGroupInformation user = Server.getRemoteUser();
    return new Caller(
        Server.getRemoteIp(),
        user == null ? "nobody" : user.getUserName(),
        user != null && user.getAuthenticationMethod() == AuthenticationMethod.KERBEROS);
  }

  InetAddress address() {
    return address;
  }

  String user() {
    return user;
  }

  boolean kerberos() {
    return kerberos;
  }
}
