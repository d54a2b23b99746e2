/*
 * Exports an SQLite log to a file, and prints the time and memory as JSON: `child.js <log> <name of the export>
 * <file>`. With `--expose-gc` it also counts the pages of events in memory.
 */
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { setImmediate } from 'node:timers/promises'
import { createGzip } from 'node:zlib'
import { type AuditEvent, AuditLog } from 'daybook'
import { exportEvents, type ExportedLog } from 'daybook/export'
import { sqliteStore } from 'daybook/sqlite'
import { type ExportFigures, type ExportName, MARKS } from './figures.js'

const { gc } = globalThis
const [filename, name, file] = process.argv.slice(2) as [string, ExportName, string]

const audit = new AuditLog({ store: sqliteStore({ filename }), types: {} })
const rss: number[] = []
let events = 0
let livePages = 0
const pages: WeakRef<readonly AuditEvent[]>[] = []

/** Counts the pages that something still refers to. */
async function countLivePages(page: readonly AuditEvent[], collect: () => void): Promise<void> {
  pages.push(new WeakRef(page))
  // A reference that was read keeps its page until the event loop turns.
  await setImmediate()
  collect()
  livePages = Math.max(livePages, pages.filter((ref) => ref.deref() !== undefined).length)
}

const measured: ExportedLog = {
  types: audit.types,
  list: (query, options) => audit.list(query, options),
  async *pages(query, options) {
    for await (const page of audit.pages(query, options)) {
      if (gc) await countLivePages(page, () => gc())
      yield page
      events += page.length
      if (events >= (MARKS[rss.length] ?? Infinity)) rss.push(process.memoryUsage.rss())
    }
  },
}

const chunks = exportEvents(measured, '', { format: name === 'parquet' ? 'parquet' : 'ndjson' })
const before = process.cpuUsage()
const start = performance.now()
const output = createWriteStream(file)
await (name === 'ndjson.gz' ? pipeline(chunks, createGzip(), output) : pipeline(chunks, output))
const { user, system } = process.cpuUsage(before)
const figures: ExportFigures = {
  events,
  seconds: (performance.now() - start) / 1000,
  cpuSeconds: (user + system) / 1e6,
  rss,
  peak: process.resourceUsage().maxRSS * 1024,
  livePages,
}
console.log(JSON.stringify(figures))
await audit.close()
