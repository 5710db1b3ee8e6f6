package org.elastane.usage;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import javax.net.SocketFactory;

/**
 * Delegates to another factory but equals none. Hadoop caches one IPC client per factory, with the
 * time-outs of the first user; with a factory of its own, Elastane gets a client with its own.
 */
final class OwnSocketFactory extends SocketFactory {
  private final SocketFactory sockets;

  OwnSocketFactory(SocketFactory sockets) {
    this.sockets = sockets;
  }

  @Override
  public Socket createSocket() throws IOException {
    return sockets.createSocket();
  }

  @Override
  public Socket createSocket(String host, int port) throws IOException {
    return sockets.createSocket(host, port);
  }

  @Override
  public Socket createSocket(String host, int port, InetAddress localHost, int localPort)
      throws IOException {
    return sockets.createSocket(host, port, localHost, localPort);
  }

  @Override
  public Socket createSocket(InetAddress host, int port) throws IOException {
    return sockets.createSocket(host, port);
  }

  @Override
  public Socket createSocket(InetAddress host, int port, InetAddress localHost, int localPort)
      throws IOException {
    return sockets.createSocket(host, port, localHost, localPort);
  }
}
