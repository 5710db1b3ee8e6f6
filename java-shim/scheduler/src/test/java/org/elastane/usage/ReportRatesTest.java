package org.elastane.usage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.concurrent.TimeUnit;
import org.apache.hadoop.thirdparty.com.google.common.base.Ticker;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.junit.jupiter.api.Test;

class ReportRatesTest {
  private static final NodeId NODE = NodeId.newInstance("a", 1);

  private long nowNs;
  private final ReportRates rates =
      new ReportRates(
          new Ticker() {
            @Override
            public long read() {
              return nowNs;
            }
          });

  @Test
  void aNodeThatFloodsIsRefusedUntilTheNextSecondAndOnlyThatNode() throws ReportRefusedException {
    for (int i = 0; i < ReportRates.MOST_IN_A_SECOND; i++) {
      rates.count(NODE);
    }
    nowNs += TimeUnit.MILLISECONDS.toNanos(999);
    ReportRefusedException e = assertThrows(ReportRefusedException.class, () -> rates.count(NODE));
    assertEquals(RefusalReason.TOO_MANY, e.reason());
    rates.count(NodeId.newInstance("b", 1));

    nowNs += TimeUnit.MILLISECONDS.toNanos(1);
    rates.count(NODE);
  }
}
