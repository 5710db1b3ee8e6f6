package org.elastane.conf;

import static org.elastane.conf.ElastaneConfiguration.DEFAULT_USAGE_ADDRESS;
import static org.elastane.conf.ElastaneConfiguration.DEFAULT_USAGE_PORT;
import static org.elastane.conf.ElastaneConfiguration.USAGE_ADDRESS;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.net.NetUtils;
import org.apache.hadoop.yarn.conf.HAUtil;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/**
 * The addresses at which the usage protocol is served and reached.
 *
 * <p>With high availability, each key may have a ResourceManager's id as suffix, as YARN's own
 * addresses have.
 */
public final class UsageAddresses {
  private UsageAddresses() {}

  /**
   * The address at which this ResourceManager listens.
   *
   * @throws ElastaneConfigurationException if the value is no address, or its host does not resolve
   */
  public static InetSocketAddress toBind(Configuration conf) {
    String address = conf.getTrimmed(USAGE_ADDRESS, DEFAULT_USAGE_ADDRESS);
    if (HAUtil.isHAEnabled(conf)) {
      address = conf.getTrimmed(suffixed(USAGE_ADDRESS, HAUtil.getRMHAId(conf)), address);
    }
    InetSocketAddress parsed = parse(USAGE_ADDRESS, address);
    String bindHost = conf.getTrimmed(YarnConfiguration.RM_BIND_HOST, "");
    if (!bindHost.isEmpty()) {
      return new InetSocketAddress(bindHost, parsed.getPort());
    }
    if (parsed.isUnresolved()) {
      throw new ElastaneConfigurationException(
          USAGE_ADDRESS, address, "host:port with a host that resolves");
    }
    return parsed;
  }

  /** The addresses of all ResourceManagers, one of which is active. */
  public static List<InetSocketAddress> toConnect(Configuration conf) {
    List<InetSocketAddress> addresses = new ArrayList<>();
    if (!HAUtil.isHAEnabled(conf)) {
      addresses.add(toConnect(conf, null));
    } else {
      for (String id : HAUtil.getRMHAIds(conf)) {
        addresses.add(toConnect(conf, id));
      }
    }
    return addresses;
  }

  private static InetSocketAddress toConnect(Configuration conf, String id) {
    String shared = conf.getTrimmed(USAGE_ADDRESS, DEFAULT_USAGE_ADDRESS);
    String key = suffixed(USAGE_ADDRESS, id);
    InetSocketAddress own = parse(key, conf.getTrimmed(key, shared));
    boolean namesNoHost = !own.isUnresolved() && own.getAddress().isAnyLocalAddress();
    boolean sharedByAll = id != null && conf.getTrimmed(key) == null;
    if (namesNoHost || sharedByAll) {
      return NetUtils.createSocketAddrForHost(resourceManagerHost(conf, id), own.getPort());
    }
    return own;
  }

  private static String resourceManagerHost(Configuration conf, String id) {
    String host = conf.getTrimmed(suffixed(YarnConfiguration.RM_HOSTNAME, id));
    String tracker = conf.getTrimmed(suffixed(YarnConfiguration.RM_RESOURCE_TRACKER_ADDRESS, id));
    // Some sites configure each address and no host name.
    if ((host == null || host.equals("0.0.0.0")) && tracker != null) {
      return parse(suffixed(YarnConfiguration.RM_RESOURCE_TRACKER_ADDRESS, id), tracker)
          .getHostString();
    }
    if (host == null) {
      throw new ElastaneConfigurationException(
          suffixed(YarnConfiguration.RM_HOSTNAME, id), "", "the host of that ResourceManager");
    }
    return host;
  }

  private static InetSocketAddress parse(String key, String value) {
    try {
      return NetUtils.createSocketAddr(value, DEFAULT_USAGE_PORT, key);
    } catch (IllegalArgumentException e) {
      throw new ElastaneConfigurationException(key, value, "host:port with a number as port");
    }
  }

  private static String suffixed(String key, String id) {
    return id == null ? key : HAUtil.addSuffix(key, id);
  }
}
