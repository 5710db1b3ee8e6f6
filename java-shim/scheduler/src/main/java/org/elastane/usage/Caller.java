package org.elastane.usage;

import java.net.InetAddress;
import org.apache.hadoop.ipc.Server;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.UserGroupInformation.AuthenticationMethod;

/** Who made a call: the address it came from and, with Kerberos, the principal. */
final class Caller {
  private final InetAddress address;
  private final String user;
  private final boolean kerberos;

  /**
   * @param kerberos whether {@code user} is a principal that Kerberos itself vouched for, and not
   *     one that a token or another user stands for
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
