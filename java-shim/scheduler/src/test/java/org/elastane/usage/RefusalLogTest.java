package org.elastane.usage;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.apache.hadoop.test.GenericTestUtils.LogCapturer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

class RefusalLogTest {
  private static final Logger LOG = LoggerFactory.getLogger(RefusalLogTest.class);

  private LogCapturer output;

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

  private static ReportRefusedException because(RefusalReason reason) {
    return new ReportRefusedException(reason, "for the test");
  }

  private long lines() {
    return output.getOutput().lines().count();
  }
}
