/** A small defect. It replaces one line of a file. */
export interface Mutant {
  /** The path in the project. */
  readonly file: string
  /** The line without indentation. It occurs once in the file. */
  readonly line: string
  /** Empty if the line is deleted. */
  readonly mutant: string
  /** The defect as users would see it. */
  readonly defect: string
}

/**
 * Defects that a programmer could make, for `npm run attack -- mutants`, the most important parts first. `found.md`
 * has the test file that finds each defect. A defect that no file finds stays in the table, because it shows a gap of
 * the suite.
 */
export const mutants: readonly Mutant[] = [
  {
    file: 'src/event/json.ts',
    line: 'if (bytes > (copier.replaced.length > 0 ? room : limits.maxBytes))',
    mutant: 'if (bytes > limits.maxBytes)',
    defect: 'leaves no room for `recording` in an event that is nearly too large',
  },
  {
    file: 'src/event/redacted-copy.ts',
    line: 'else setKey(copy, redactText(key), member as JsonValue)',
    mutant: 'else setKey(copy, key, member as JsonValue)',
    defect: 'keeps a secret that is the name of a member',
  },
  {
    file: 'src/event/importing.ts',
    line: 'stored.event.username === imported.event.username &&',
    mutant: 'stored.event.type === imported.event.type &&',
    defect: 'takes an event of another user for one that is there already',
  },
  {
    file: 'src/filter/evaluate.ts',
    line: 'return negated && scalars.length > 0',
    mutant: 'return negated',
    defect: 'in steps, a negated predicate matches events without the attribute',
  },
  {
    file: 'src/filter/parse.ts',
    line: 'if (this.listValues > MAX_LIST_VALUES)',
    mutant: 'if (this.listValues >= MAX_LIST_VALUES)',
    defect: 'refuses a list of as many values as are allowed',
  },
  {
    file: 'src/filter/like.ts',
    line: 'return end !== -1 && end <= text.length - last.length',
    mutant: 'return end !== -1',
    defect: 'lets the middle and the end of a long pattern overlap',
  },
  {
    file: 'src/filter/values.ts',
    line: 'unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit',
    mutant: 'unit >= 0xe000 ? unit : unit >= 0xd800 ? unit + 0x2000 : unit',
    defect: 'sorts full-width characters after emoji',
  },
  {
    file: 'src/recording/batches.ts',
    line: 'if (last && (newest === undefined || last.created_at > newest)) newest = last.created_at',
    mutant: 'if (last) newest = last.created_at',
    defect: 'an event that an earlier attempt stored lowers the bound of later ones',
  },
  {
    file: 'src/recording/settlement.ts',
    line: 'const draft = entry.draft.live ? { ...entry.draft, live: undefined } : entry.draft',
    mutant: 'const draft = entry.draft',
    defect: 'a live event that was in the journal stays open',
  },
  {
    file: 'src/recording/idempotency.ts',
    line: 'const since = claim.claimedAt - CLOCK_MARGIN',
    mutant: 'const since = now - CLOCK_MARGIN',
    defect: 'does not look for what a process stored that ended long ago',
  },
  {
    file: 'src/recording/journaling.ts',
    line: 'const since = tried.length > 0 ? Math.min(...tried) : undefined',
    mutant: 'const since = tried.length > 0 ? Math.max(...tried) : undefined',
    defect: 'a replay looks for the newest attempt only',
  },
  {
    file: 'src/recording/queue.ts',
    line: 'if (again.length > 0) waiting = [...again, ...waiting]',
    mutant: 'if (again.length > 0) waiting = [...waiting, ...again]',
    defect: 'events that are tried again come after newer ones',
  },
  {
    file: 'src/recording/intents.ts',
    line: 'if (!book.isSaved()) await book.save()',
    mutant: 'if (book.isSaved()) await book.save()',
    defect: 'an intent that could not be removed is never removed',
  },
  {
    file: 'src/recording/actor.ts',
    line: 'return context ? contexts.run(context, call) : contexts.exit(call)',
    mutant: 'return context ? contexts.run(context, call) : call()',
    defect: 'a callback that was bound without an actor gets that of its caller',
  },
  {
    file: 'src/store/throttle-state.ts',
    line: 'if (now < storedAt) return { opensIn: period, storedAt: now }',
    mutant: 'if (now < storedAt) return { opensIn: period, storedAt }',
    defect: 'a clock that was set back keeps a throttle closed for longer than its period',
  },
  {
    file: 'src/store-kit/pushdown.ts',
    line: "if (known.length === 0 || (combinator === 'or' && known.length < parts.length)) return undefined",
    mutant: 'if (known.length === 0) return undefined',
    defect: 'a store leaves out events that match only the part of an `or` that SQL cannot test',
  },
  {
    file: 'src/store-kit/index/index-filter.ts',
    line: "return filter.name === name && (find.by !== 'presence' || find.presence === 'present')",
    mutant: "return filter.name === name && (find.by !== 'presence' || find.presence !== 'absent')",
    defect: 'a list of events that are blank in an attribute, sorted by it, lacks those without it',
  },
  {
    file: 'src/store-kit/index/exact-matches.ts',
    line: 'subtract(found, hasName)',
    mutant: '',
    defect: 'counts an event by the parts of a name, although it has the whole name',
  },
  {
    file: 'src/store-kit/index-builder/segment-levels.ts',
    line: 'if (some.length >= fanOut) return withEarly(segments, some.slice(0, fanOut))',
    mutant: 'if (some.length >= fanOut) return withEarly(segments, some.slice(-fanOut))',
    defect: 'merges the newest segments, and never the oldest',
  },
  {
    file: 'src/store-kit/counting/facet-tally.ts',
    line: 'exact: exact && values.isComplete,',
    mutant: 'exact,',
    defect: 'calls a facet exact that has more values than are kept',
  },
  {
    file: 'adapters/memory/throttles.ts',
    line: 'if (number <= (reporters.get(reporter)?.number ?? -Infinity)) return',
    mutant: 'if (number < (reporters.get(reporter)?.number ?? -Infinity)) return',
    defect: 'counts a report twice that is sent again',
  },
  {
    file: 'adapters/sqlite/write/append.ts',
    line: 'await connection.durable(options.onStored ? {} : options)',
    mutant: 'connection.durable(options.onStored ? {} : options).catch(() => {})',
    defect: 'acknowledges an event before the disk has it',
  },
  {
    file: 'adapters/sqlite/reading.ts',
    line: 'if (options.durable) await connection.durableReads(options)',
    mutant: 'if (options.durable) connection.durableReads(options).catch(() => {})',
    defect: 'gives a tail an event before the disk has it',
  },
  {
    file: 'adapters/sqlite/connection/durability.ts',
    line: 'transactions.distrust(error)',
    mutant: 'transactions.unsettled()',
    defect: 'trusts a sync after one that has failed',
  },
  {
    file: 'src/store-kit/planning/list-planner.ts',
    line: "for (const next of order === 'asc' ? [ask, scan] : [scan, ask]) if (await next()) return",
    mutant:
      "for (const next of order === 'desc' ? [ask, scan] : [scan, ask]) if (await next()) return",
    defect: 'lists the indexed events before newer ones',
  },
  {
    file: 'src/store-kit/maintenance/removed-events.ts',
    line: "'s.first <= r.created_at AND s.last >= r.created_at AND s.removed < r.removed'",
    mutant: "'s.first <= r.created_at AND s.last > r.created_at AND s.removed < r.removed'",
    defect: 'forgets that the last event of a segment was removed',
  },
  {
    file: 'adapters/sqlite/index/dialect.ts',
    line: 'sealed_late = coalesce((SELECT min(id) - 1 FROM daybook_late), ?, sealed_late)`,',
    mutant: 'sealed_late = coalesce((SELECT min(id) FROM daybook_late), ?, sealed_late)`,',
    defect: 'the oldest late event that is not sealed is in no list by the index',
  },
  {
    file: 'adapters/sqlite/schema/capture-triggers.ts',
    line: 'const values = `${one} IS NOT ${other} COLLATE BINARY`',
    mutant: 'const values = `${one} IS NOT ${other}`',
    defect: 'does not capture a change of case in a column that ignores case',
  },
  {
    file: 'adapters/postgres/write/outbox.ts',
    line: "return `E'${value.toWellFormed().replaceAll(/[^ -~]|['\\\\?]/g, escape)}'`",
    mutant: "return `E'${value.toWellFormed().replaceAll(/[^ -~]|['\\\\]/g, escape)}'`",
    defect: 'query builders take a question mark in an event for a parameter',
  },
  {
    file: 'adapters/postgres/read/count-span.ts',
    line: 'first: firsts.length === 0 ? undefined : Math.min(...firsts),',
    mutant: 'first: firsts[0],',
    defect: 'buckets begin after an open live event that is older than all others',
  },
  {
    file: 'adapters/postgres/index/lease.ts',
    line: 'const IS_FREE = `holder IS NULL OR held_until IS NULL OR held_until <= now()',
    mutant: 'const IS_FREE = `holder IS NULL OR held_until IS NULL',
    defect: 'the lease of a process that was killed never ends',
  },
  {
    file: 'adapters/postgres/log/replica.ts',
    line: 'return { time: Math.max(own.appended, token?.time ?? 0), positions }',
    mutant: 'return { time: token?.time ?? own.appended, positions }',
    defect: 'a read with an older token need not have what this process has recorded',
  },
  {
    file: 'adapters/postgres/connection/failures.ts',
    line: 'const TRANSIENT_CLASSES = /^(?:08|53|57|58)/',
    mutant: 'const TRANSIENT_CLASSES = /^(?:08|57|58)/',
    defect: 'does not try again while the disk of the server is full',
  },
  {
    file: 'adapters/postgres/schema/partitions.ts',
    line: 'const next = formatTimestamp(from + 31 * DAY).slice(0, 7)',
    mutant: 'const next = formatTimestamp(from + 30 * DAY).slice(0, 7)',
    defect: 'a partition of a month with 31 days is empty',
  },
  {
    file: 'src/cleaning/remove-events.ts',
    line: 'if (filter === undefined && holds.length === 0)',
    mutant: 'if (filter === undefined || holds.length === 0)',
    defect: 'archives and drops whole partitions in spite of a filter',
  },
  {
    file: 'src/cleaning/archive-ranges.ts',
    line: 'durable += count',
    mutant: 'durable = read',
    defect: 'removes a partition before its archive is durable',
  },
  {
    file: 'src/cleaning/schedule.ts',
    line: 'return today > time ? today : today + DAY',
    mutant: 'return today >= time ? today : today + DAY',
    defect: 'a rule that ran exactly at its time of day is due again',
  },
  {
    file: 'src/subscriptions/delivery-loop.ts',
    line: 'this.#buffer.remove(probed ? 2 : 1)',
    mutant: 'this.#buffer.remove(1)',
    defect: 'delivers the event after a parked one twice',
  },
  {
    file: 'src/subscriptions/ownership.ts',
    line: 'await Promise.allSettled(Array.from(leases.held(), leases.release))',
    mutant: '',
    defect: 'a log that is closed keeps the leases of its channels',
  },
  {
    file: 'src/subscriptions/seals.ts',
    line: 'for (const key of keys) {',
    mutant: 'for (const key of keys.slice(0, 1)) {',
    defect: 'secrets of a former key cannot be decrypted',
  },
  {
    file: 'adapters/channels/webhook-kind.ts',
    line: 'secrets: () => (former && Date.now() < former.until ? both : own),',
    mutant: 'secrets: () => (former ? both : own),',
    defect: 'a replaced secret signs for ever',
  },
  {
    file: 'src/http/events/recheck.ts',
    line: 'if (isChecking) return end.abort()',
    mutant: 'if (isChecking) return',
    defect: 'a stream goes on while the host does not answer whether it may',
  },
  {
    file: 'src/http/events/export.ts',
    line: "signal.aborted && error instanceof AuditLogError && error.code === 'ABORTED'",
    mutant: "signal.aborted || (error instanceof AuditLogError && error.code === 'ABORTED')",
    defect: 'an export that the log has aborted looks complete',
  },
  {
    file: 'src/http/record/request-data.ts',
    line: "const params = redactedAt(['url_params'], exchange.params)",
    mutant: 'const params = Object(exchange.params) as object',
    defect: 'records secret parameters of a path',
  },
  {
    file: 'src/http/fetch/sent-body.ts',
    line: "if (typeof read !== 'string' || !/[/+]json\\b/i.test(contentType ?? '')) return { body: read }",
    mutant:
      "if (typeof read !== 'string' || !/\\/json\\b/i.test(contentType ?? '')) return { body: read }",
    defect: 'records a document of JSON:API as text, with its secrets',
  },
  {
    file: 'src/http/events/host-access.ts',
    line: 'return answer === true',
    mutant: 'return Boolean(answer)',
    defect: 'allows what the host answered with anything but true',
  },
  {
    file: 'src/http/subscriptions/subscription-actions.ts',
    line: 'if (page.length < PARKED_PAGE) return',
    mutant: 'if (page.length <= PARKED_PAGE) return',
    defect: 'lists the first 1000 parked events only',
  },
  {
    file: 'src/http/views/handlers.ts',
    line: 'if (!call.seesAll && before.owner !== call.username)',
    mutant: 'if (!call.seesAll && !before.shared && before.owner !== call.username)',
    defect: 'users may change the shared views of others',
  },
  {
    file: 'adapters/koa/secret-ranges.ts',
    line: 'return isHidden && range ? [[at + range[0], at + range[1]]] : []',
    mutant: 'return isHidden && range ? [[range[0], range[1]]] : []',
    defect: 'under a mount path another part of the path is hidden than the secret',
  },
  {
    file: 'adapters/orm/kysely.ts',
    line: "!('isRolledBack' in transaction && transaction.isRolledBack)",
    mutant: "!('isCommitted' in transaction && transaction.isCommitted)",
    defect: 'takes a transaction that was rolled back',
  },
  {
    file: 'src/tail/session.ts',
    line: 'if (hasChanges || events.length > 0) waiting.wakeAll()',
    mutant: 'if (events.length > 0) waiting.wakeAll()',
    defect: 'followers learn of changed live events only with the next new event',
  },
  {
    file: 'src/live/growing-texts.ts',
    line: 'const text = new GrowingText(everGrown.has(key))',
    mutant: 'const text = new GrowingText(false)',
    defect: 'a text that was removed and grows again follows the removed one',
  },
  {
    file: 'src/logs/list-across.ts',
    line: "oneCondition('created_at', compareText(log, other) < 0 ? 'lteq' : 'lt', [created_at])",
    mutant:
      "oneCondition('created_at', compareText(log, other) <= 0 ? 'lteq' : 'lt', [created_at])",
    defect: 'the next page of several logs repeats an event',
  },
  {
    file: 'src/grouping/group-tally.ts',
    line: 'if (edges[middle]! <= time) low = middle',
    mutant: 'if (edges[middle]! < time) low = middle',
    defect: 'puts an event at the beginning of a bucket into the one before',
  },
  {
    file: 'src/exporting/existing-events.ts',
    line: 'const newest = await log.list({ where: visible, sorts: [], limit: 1 }, reading)',
    mutant: 'const newest = await log.list({ where: undefined, sorts: [], limit: 1 }, options)',
    defect: 'an export says when the newest event was that the user may not see',
  },
  {
    file: 'adapters/cli/run/tail.ts',
    line: "? formatTimestamp(readTime(since, '--since', options) - 1)",
    mutant: "? formatTimestamp(readTime(since, '--since', options))",
    defect: '`tail --since` leaves out an event of exactly that time',
  },
  {
    file: 'adapters/cli/feed/tail.ts',
    line: 'cursor = event.created_at',
    mutant: '',
    defect: 'a tail of a feed repeats its events after an outage',
  },
  {
    file: 'adapters/page/list/paging.ts',
    line: "if (value === null) return isAscending ? alike : either(alike, conditionOn(attribute, 'not_null'))",
    mutant: 'if (value === null) return alike',
    defect: 'sorted by user, the list ends after the events without a user',
  },
  {
    file: 'adapters/page/list/live-changes.ts',
    line: 'if (at >= 0) waiting.value = { events: events.with(at, event), count }',
    mutant: 'if (at > 0) waiting.value = { events: events.with(at, event), count }',
    defect: 'the newest waiting event keeps its old attributes',
  },
  {
    file: 'adapters/page/data/address.ts',
    line: 'const replace = openId.value !== undefined && id !== undefined',
    mutant: 'const replace = openId.value !== undefined',
    defect: 'Back does not open a closed event again',
  },
  {
    file: 'adapters/page/export/run-export.ts',
    line: 'await sink.finish(fileName(format, at, true))',
    mutant: 'await sink.finish(fileName(format, at))',
    defect: 'the file of a stopped export has the name of a whole one',
  },
  {
    file: 'adapters/page/history/undo-effects.ts',
    line: "const isExpected = isInsertion || (old === undefined) === (op === 'add')",
    mutant: "const isExpected = (old === undefined) === (op === 'add')",
    defect: 'undoing the removal of an element seems to overwrite another one',
  },
]
