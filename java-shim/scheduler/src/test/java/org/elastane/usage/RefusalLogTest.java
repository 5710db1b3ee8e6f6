package org.elastane.usage;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.TimeUnit;
import org.apache.hadoop.test.GenericTestUtils.LogCapturer;
import org.apache.hadoop.thirdparty.com.google.common.base.Ticker;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

class RefusalLogTest {
  private static final Logger LOG = LoggerFactory.getLogger(RefusalLogTest.class);

  private LogCapturer output;
  private int hours;

  private final Ticker ticker =
      new Ticker() {
        @Override
        public long read() {
          return TimeUnit.HOURS.toNanos(hours);
        }
      };

  @BeforeEach
  void capture() {
    output = LogCapturer.captureLogs(LOG);
  }

  @AfterEach
  void release() {
    output.stopCapturing();
  }

  @Test
  void aNodeAndReasonIsSaidOnce() {
    RefusalLog log = new RefusalLog(LOG, 10);
    log.refused("a:1", because(RefusalReason.TOO_LARGE));
    log.refused("a:1", because(RefusalReason.TOO_LARGE));
    log.refused("a:1", because(RefusalReason.FOREIGN_ADDRESS));
    log.refused("b:1", because(RefusalReason.TOO_LARGE));
    assertEquals(3, lines());
  }

  @Test
  void whatHappensAnewAfterAnAcceptedReportIsSaidAnew() {
    RefusalLog log = new RefusalLog(LOG, 10);
    log.refused("a:1", because(RefusalReason.TOO_LARGE));
    log.accepted("a:1");
    log.accepted("a:1");
    log.refused("a:1", because(RefusalReason.TOO_LARGE));
    assertEquals(3, lines(), "refused, taken again, refused");
  }

  @Test
  void namesWithoutEndFillNeitherMemoryNorLog() {
    RefusalLog log = new RefusalLog(LOG, 10);
    for (int i = 0; i < 1000; i++) {
      log.refused("made-up" + i + ":1", because(RefusalReason.UNKNOWN_NODE));
    }
    assertEquals(11, lines(), "ten nodes, and once that there are more");
  }

  @Test
  void aFloodOfMadeUpNamesSilencesNoRegisteredNode() {
    RefusalLog log = flooded();
    log.refused("a:1", because(RefusalReason.TOO_LARGE));
    log.refused("b:1", because(RefusalReason.FOREIGN_ADDRESS));
    log.accepted("a:1");
    assertEquals(14, lines());
  }

  @Test
  void madeUpNamesAreForgottenAfterAnHour() {
    RefusalLog log = flooded();
    hours += 2;
    log.refused("late:1", because(RefusalReason.UNKNOWN_NODE));
    assertEquals(12, lines());
  }

  @Test
  void aFalseCallerIsSaidOnceAnHourWhateverTheNodeItselfReports() {
    RefusalLog log = new RefusalLog(LOG, 10, ticker);
    for (int i = 0; i < 1000; i++) {
      log.refused("a:1", because(RefusalReason.FOREIGN_ADDRESS));
      log.accepted("a:1");
    }
    assertEquals(1, lines());
    hours += 2;
    log.refused("a:1", because(RefusalReason.FOREIGN_ADDRESS));
    assertEquals(2, lines());
  }

  @Test
  void aNodeWithEveryOtherReportRefusedDoesNotFillTheLog() {
    RefusalLog log = new RefusalLog(LOG, 10, ticker);
    for (int i = 0; i < 1000; i++) {
      log.refused("a:1", because(RefusalReason.REFUSED_BODY));
      log.accepted("a:1");
    }
    assertEquals(21, lines());
  }

  private RefusalLog flooded() {
    RefusalLog log = new RefusalLog(LOG, 10, ticker);
    for (int i = 0; i < 1000; i++) {
      log.refused("made-up" + i + ":1", because(RefusalReason.UNKNOWN_NODE));
    }
    return log;
  }

  private static ReportRefusedException because(RefusalReason reason) {
    return new ReportRefusedException(reason, "for the test");
  }

  private long lines() {
    return output.getOutput().lines().count();
  }
}
