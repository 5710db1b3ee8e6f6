package org.elastane.usage;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.channels.SocketChannel;
import org.apache.hadoop.net.StandardSocketFactory;

/** Sockets bound to a given local address. */
final class BoundSocketFactory extends StandardSocketFactory {
  private final String address;

  BoundSocketFactory(String address) {
    this.address = address;
  }

  @Override
  public Socket createSocket() throws IOException {
    SocketChannel channel = SocketChannel.open();
    channel.bind(new InetSocketAddress(address, 0));
    return channel.socket();
  }
}
