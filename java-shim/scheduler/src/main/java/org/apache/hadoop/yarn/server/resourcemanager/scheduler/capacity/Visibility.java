package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.server.resourcemanager.RMContext;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;

/** The applications that one caller may see, by YARN's ids; for one answer. */
final class Visibility {
  private static final Pattern APPLICATION_ID = Pattern.compile("application_\\d+_\\d+");

  /** An id that no application has. */
  private static final ApplicationId NOBODYS = ApplicationId.newInstance(0, 0);

  private final RMContext context;
  private final Predicate<RMApp> maySee;
  private final Predicate<ApplicationId> maySeeForgotten;
  private final Map<String, Boolean> known = new HashMap<>();

  /**
   * @param maySeeForgotten of those that the ResourceManager does not know any more
   */
  Visibility(RMContext context, Predicate<RMApp> maySee, Predicate<ApplicationId> maySeeForgotten) {
    this.context = context;
    this.maySee = maySee;
    this.maySeeForgotten = maySeeForgotten;
  }

  Visibility(RMContext context, ApplicationAccess access) {
    this(context, access::maySee, access::maySeeForgotten);
  }

  /** Whether the caller may see every application. */
  boolean seesAll() {
    return maySeeForgotten.test(NOBODYS);
  }

  boolean sees(RMApp application) {
    return known.computeIfAbsent(
        application.getApplicationId().toString(), id -> maySee.test(application));
  }

  /** Of an id that is none, nobody sees anything. */
  boolean sees(String id) {
    return known.computeIfAbsent(id, this::ask);
  }

  private boolean ask(String id) {
    if (!APPLICATION_ID.matcher(id).matches()) {
      return false;
    }
    ApplicationId number;
    try {
      number = ApplicationId.fromString(id);
    } catch (IllegalArgumentException e) {
      // It has more digits than a number.
      return false;
    }
    RMApp application = context.getRMApps().get(number);
    return application == null ? maySeeForgotten.test(number) : maySee.test(application);
  }

  /** Null if the caller may not see the application, or the ResourceManager does not know it. */
  RMApp find(String id) {
    return sees(id) ? context.getRMApps().get(ApplicationId.fromString(id)) : null;
  }

  /** A sentence may name other applications than the one that it is about. */
  String withoutHidden(String text) {
    Matcher ids = APPLICATION_ID.matcher(text);
    StringBuffer shown = new StringBuffer();
    while (ids.find()) {
      ids.appendReplacement(shown, sees(ids.group()) ? ids.group() : "another application");
    }
    return ids.appendTail(shown).toString();
  }
}
