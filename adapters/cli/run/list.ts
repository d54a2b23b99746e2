import type { Call } from '../call/command.js'
import { hintAtMissing } from '../call/hints.js'
import { readQuery } from '../call/query.js'
import { rowWriter } from '../call/rows.js'

export async function run(call: Call): Promise<void> {
  const query = readQuery(call)
  const log = await call.openLog()
  const { events } = await log.list(query, { signal: call.terminal.signal })
  const rows = rowWriter(call, log)
  for (const event of events) await rows.write(event)
  await hintAtMissing(call, log, query, events)
}
