package org.elastane.usage;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The addresses of nodes' hosts. A report does not wait for DNS: an answer is used for five
 * minutes. An answer without the wanted address is used for ten seconds only, since the node may
 * have got another one.
 *
 * <p>A false caller can have any registered node's host looked up. So only some threads wait for
 * DNS at a time; the others wait for a moment, and then use an answer of the last hour, or none.
 */
final class HostAddresses {
  /** Resolves host names; {@link InetAddress#getAllByName} in a ResourceManager. */
  interface HostResolver {
    InetAddress[] addressesOf(String host) throws UnknownHostException;
  }

  private static final long VALID_MS = TimeUnit.MINUTES.toMillis(5);
  private static final long OTHERWISE_VALID_MS = TimeUnit.SECONDS.toMillis(10);

  private static final long STALE_VALID_MS = TimeUnit.HOURS.toMillis(1);

  private final HostResolver resolver;
  private final LongSupplier clockMs;
  private final Map<String, Answer> answers;
  private final Semaphore lookups;
  private final long waitMs;

  /**
   * @param clockMs a time that never goes back
   * @param mostHosts the bound on remembered hosts; the one that was asked for least recently goes
   * @param mostLookups the bound on threads that wait for the resolver at a time
   * @param waitMs how long another thread waits for its turn
   */
  HostAddresses(
      HostResolver resolver, LongSupplier clockMs, int mostHosts, int mostLookups, long waitMs) {
    this.waitMs = waitMs;
    this.resolver = resolver;
    this.clockMs = clockMs;
    lookups = new Semaphore(mostLookups);
    answers =
        new LinkedHashMap<String, Answer>(16, 0.75f, true) {
          private static final long serialVersionUID = 1L;

          @Override
          protected boolean removeEldestEntry(Map.Entry<String, Answer> eldest) {
            return size() > mostHosts;
          }
        };
  }

  /**
   * The addresses of a host.
   *
   * @param wanted the address that is looked for; null for none
   * @throws UnknownHostException if the name does not resolve, or is not known while as many
   *     lookups are under way as there may be
   */
  InetAddress[] of(String host, InetAddress wanted) throws UnknownHostException {
    Answer answer = remembered(host);
    if (answer == null || !answer.isValid(wanted, clockMs.getAsLong())) {
      answer = mayLookUp() ? lookUp(host) : stale(host, answer);
    }
    if (answer.addresses.length == 0) {
      throw new UnknownHostException(host + " does not resolve");
    }
    return answer.addresses;
  }

  /** DNS that works answers within this time: many nodes may report for the first time at once. */
  private boolean mayLookUp() {
    try {
      return lookups.tryAcquire(waitMs, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Without the monitor, so that no other node's report waits for DNS. */
  private Answer lookUp(String host) {
    try {
      Answer answer = Answer.of(resolver, host, clockMs.getAsLong());
      remember(host, answer);
      return answer;
    } finally {
      lookups.release();
    }
  }

  private Answer stale(String host, Answer answer) throws UnknownHostException {
    if (answer == null || clockMs.getAsLong() - answer.askedMs >= STALE_VALID_MS) {
      throw new UnknownHostException(host + " is not known, and DNS is slow for other hosts");
    }
    return answer;
  }

  private synchronized Answer remembered(String host) {
    return answers.get(host);
  }

  private synchronized void remember(String host, Answer answer) {
    answers.put(host, answer);
  }

  private static final class Answer {
    /** Empty where the name did not resolve. */
    private final InetAddress[] addresses;

    private final long askedMs;

    private Answer(InetAddress[] addresses, long askedMs) {
      this.addresses = addresses;
      this.askedMs = askedMs;
    }

    static Answer of(HostResolver resolver, String host, long nowMs) {
      try {
        return new Answer(resolver.addressesOf(host), nowMs);
      } catch (UnknownHostException e) {
        return new Answer(new InetAddress[0], nowMs);
      }
    }

    boolean isValid(InetAddress wanted, long nowMs) {
      boolean hasIt = Arrays.asList(addresses).contains(wanted);
      return nowMs - askedMs < (hasIt ? VALID_MS : OTHERWISE_VALID_MS);
    }
  }
}
