package org.elastane.usage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One lookup hangs, and there may be one at a time. */
class HostAddressesTest {
  private static final String HANGS = "hangs.example.org";
  private static final String KNOWN = "known.example.org";
  private static final InetAddress ADDRESS = InetAddress.getLoopbackAddress();

  private final CountDownLatch asked = new CountDownLatch(1);
  private final CountDownLatch answered = new CountDownLatch(1);
  private volatile long nowMs;
  private final HostAddresses addresses = new HostAddresses(this::lookUp, () -> nowMs, 9, 1, 2000);
  private Thread hanging;

  @BeforeEach
  void hang() throws Exception {
    addresses.of(KNOWN, ADDRESS);
    hanging = new Thread(this::ask);
    hanging.start();
    asked.await();
  }

  @AfterEach
  void goOn() throws Exception {
    answered.countDown();
    hanging.join();
  }

  @Test
  @Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aHostThatWasKnownIsStillKnown() throws Exception {
    nowMs = TimeUnit.MINUTES.toMillis(6);
    assertArrayEquals(new InetAddress[] {ADDRESS}, addresses.of(KNOWN, ADDRESS));
  }

  @Test
  @Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aHostThatWasKnownLongAgoIsNot() {
    nowMs = TimeUnit.MINUTES.toMillis(61);
    assertThrows(UnknownHostException.class, () -> addresses.of(KNOWN, ADDRESS));
  }

  @Test
  @Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void anotherHostIsUnknownSoon() {
    assertThrows(UnknownHostException.class, () -> addresses.of("new.example.org", ADDRESS));
    assertThrows(UnknownHostException.class, () -> addresses.of(HANGS, ADDRESS));
  }

  @Test
  @Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aLookupThatIsOverInAMomentRefusesNobodyElse() throws Exception {
    CompletableFuture<InetAddress[]> other =
        CompletableFuture.supplyAsync(
            () -> {
              answered.countDown();
              try {
                return addresses.of("new.example.org", ADDRESS);
              } catch (UnknownHostException e) {
                throw new CompletionException(e);
              }
            });
    assertArrayEquals(new InetAddress[] {ADDRESS}, other.get());
  }

  private void ask() {
    try {
      addresses.of(HANGS, ADDRESS);
    } catch (UnknownHostException e) {
      throw new AssertionError(e);
    }
  }

  private InetAddress[] lookUp(String host) {
    if (!host.equals(KNOWN) || nowMs > 0) {
      asked.countDown();
      try {
        answered.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    return new InetAddress[] {ADDRESS};
  }
}
