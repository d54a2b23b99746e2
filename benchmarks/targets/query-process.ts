import { createHash } from 'node:crypto'
import { AuditLog } from 'daybook'
import { manualClock } from 'daybook/testing'
import { openStore } from '../harness/open-store.js'
import { toQueryString } from '../harness/query.js'
import type {
  Page,
  QueryAnswer,
  QueryJob,
  QueryResult,
  QuerySetup,
  QueryTarget,
} from '../harness/query-target.js'
import { readSetup, serveJobs } from '../harness/workers.js'
import { openJsonbTable } from './jsonb-table.js'
import { openMatcher, openMemoryLog } from './matchers.js'
import { openRawTarget } from './raw-sqlite.js'

/* A process that opens one query target and runs queries on it. */

function targetOf(audit: AuditLog): QueryTarget {
  return {
    prepare(query) {
      const text = toQueryString(query)
      return async () => {
        const { events, truncated } = await audit.list(text)
        return { ids: events.map(({ attributes }) => attributes['change_id']), truncated }
      }
    },
    close: () => audit.close(),
  }
}

function open(setup: QuerySetup): QueryTarget | Promise<QueryTarget> {
  switch (setup.side) {
    case 'daybook': {
      // The clock of the process that filled the log. Any other would be reported as an event of the log.
      const store = openStore(setup.store, manualClock())
      return targetOf(new AuditLog({ store, types: {} }))
    }
    case 'raw':
      return openRawTarget(setup.filename)
    case 'jsonb':
      return openJsonbTable(setup.url)
    case 'memory':
      return openMemoryLog(setup.events).then(targetOf)
    case 'matcher':
      return openMatcher(setup.name, setup.events)
  }
}

const openStart = performance.now()
const target = await open(readSetup() as QuerySetup)
const openMilliseconds = performance.now() - openStart

const resultOf = ({ ids, truncated }: Page): QueryResult => ({
  events: ids.length,
  digest: createHash('sha1')
    .update(JSON.stringify([ids, truncated]))
    .digest('base64'),
})

function processorMilliseconds(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

async function run({ queries, warmUp, ideal, maxSeconds }: QueryJob): Promise<QueryAnswer> {
  const warm = performance.now() + (maxSeconds * 1000) / 2
  for (const query of warmUp) {
    await target.prepare(query, ideal)()
    if (performance.now() >= warm) break
  }
  const milliseconds: number[] = []
  let firstProcessorMilliseconds = 0
  const results: QueryResult[] = []
  const end = performance.now() + maxSeconds * 1000
  for (const query of queries) {
    const execute = target.prepare(query, ideal)
    const start = performance.now()
    const before = results.length === 0 ? process.cpuUsage() : undefined
    const page = await execute()
    milliseconds.push(performance.now() - start)
    if (before) firstProcessorMilliseconds = processorMilliseconds(before)
    results.push(resultOf(page))
    if (performance.now() >= end) break
  }
  return { milliseconds, results, firstProcessorMilliseconds, openMilliseconds }
}

serveJobs(run, () => target.close())
