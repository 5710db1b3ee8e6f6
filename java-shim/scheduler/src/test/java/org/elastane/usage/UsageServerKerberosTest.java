package org.elastane.usage;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.minikdc.MiniKdc;
import org.apache.hadoop.net.StandardSocketFactory;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.elastane.conf.ElastaneConfigurationException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The server with Kerberos, as in a secure ResourceManager, with its own KDC. */
class UsageServerKerberosTest {
  private static final NodeId NODE = NodeId.newInstance("localhost", 45454);

  @TempDir private static Path directory;
  private static MiniKdc kdc;
  private static File keytab;

  private final AtomicInteger received = new AtomicInteger();
  private Configuration conf;
  private UsageServer server;

  @BeforeAll
  static void startKdc() throws Exception {
    kdc = new MiniKdc(MiniKdc.createConf(), directory.toFile());
    kdc.start();
    keytab = directory.resolve("keytab").toFile();
    kdc.createPrincipal(keytab, "rm/localhost", "nm/localhost", "nm/elsewhere", "spark/localhost");
  }

  @AfterAll
  static void stopKdc() {
    UserGroupInformation.reset();
    UserGroupInformation.setConfiguration(new Configuration());
    kdc.stop();
  }

  @BeforeEach
  void start() throws IOException {
    conf = new YarnConfiguration();
    conf.set("hadoop.security.authentication", "kerberos");
    conf.set("yarn.resourcemanager.principal", "rm/localhost@" + kdc.getRealm());
    conf.set("yarn.nodemanager.principal", "nm/_HOST@" + kdc.getRealm());
    UserGroupInformation.setConfiguration(conf);
    UserGroupInformation.loginUserFromKeytab("rm/localhost@" + kdc.getRealm(), keytab.getPath());
  }

  @AfterEach
  void stop() {
    server.stop();
  }

  @Test
  void theNodesOwnPrincipalIsTaken() throws IOException {
    startServer(false);
    reportAs("nm/localhost");
    assertEquals(1, received.get());
  }

  @Test
  void anotherNodesPrincipalIsRefusedThoughHadoopDoesNotCheckIt() throws IOException {
    startServer(false);
    ReportRefusedException e =
        assertThrows(ReportRefusedException.class, () -> reportAs("nm/elsewhere"));
    assertTrue(e.getMessage().startsWith("FOREIGN_PRINCIPAL: "), e.getMessage());
    assertEquals(0, received.get());
  }

  @Test
  void anotherServiceOfTheNodeIsRefused() throws IOException {
    startServer(false);
    assertThrows(ReportRefusedException.class, () -> reportAs("spark/localhost"));
    assertEquals(0, received.get());
  }

  @Test
  void aCallerWithoutKerberosIsRefused() throws IOException {
    startServer(false);
    IOException e =
        assertThrows(IOException.class, () -> report(UserGroupInformation.createRemoteUser("nm")));
    assertFalse(e instanceof ReportRefusedException, "not past the handshake: " + e);
    assertEquals(0, received.get());
  }

  @Test
  void withAuthorizationOnTheProtocolHasItsOwnAcl() throws IOException {
    conf.set("hadoop.security.auth_to_local", "RULE:[2:$1]\nDEFAULT");
    UserGroupInformation.setConfiguration(conf);
    conf.set(UsageServer.ACL, "nm");
    startServer(true);
    reportAs("nm/localhost");
    server.stop();

    conf.set(UsageServer.ACL, "nobody-at-all");
    startServer(true);
    IOException e = assertThrows(IOException.class, () -> reportAs("nm/localhost"));
    assertTrue(e.getMessage().contains("is not authorized for protocol"), e.getMessage());
    assertEquals(1, received.get());
  }

  @Test
  void aMissingPrincipalOfTheNodeManagersIsFoundBeforeThePortIsOpened() throws IOException {
    startServer(false);
    assertDoesNotThrow(() -> UsageServer.check(conf));
    conf.unset("yarn.nodemanager.principal");
    ElastaneConfigurationException e =
        assertThrows(ElastaneConfigurationException.class, () -> UsageServer.check(conf));
    assertTrue(e.getMessage().startsWith("yarn.nodemanager.principal is ''"), e.getMessage());
  }

  private void startServer(boolean authorization) throws IOException {
    conf.setBoolean("hadoop.security.authorization", authorization);
    conf.set("yarn.scheduler.elastane.usage.address", "127.0.0.1:0");
    server =
        new UsageServer(
            conf,
            NODE::equals,
            (node, version, body) -> {
              received.incrementAndGet();
              return new byte[0];
            });
    server.start();
    conf.set("yarn.scheduler.elastane.usage.address", "127.0.0.1:" + server.address().getPort());
  }

  private void reportAs(String principal) throws IOException {
    report(
        UserGroupInformation.loginUserFromKeytabAndReturnUGI(
            principal + "@" + kdc.getRealm(), keytab.getPath()));
  }

  private void report(UserGroupInformation user) throws IOException {
    try (UsageClient client = new UsageClient(conf, new StandardSocketFactory(), () -> user)) {
      client.report(NODE, 1, new byte[] {1});
    }
  }
}
