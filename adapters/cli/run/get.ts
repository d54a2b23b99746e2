import type { Call } from '../call/command.js'
import { readEventId } from '../call/event-id.js'
import { eventPrinter } from '../call/rows.js'
import { CommandError } from '../terminal/exit-codes.js'

export async function run(call: Call): Promise<void> {
  const id = readEventId(call)
  const log = await call.openLog()
  const event = await log.get(id, { signal: call.terminal.signal })
  if (!event) throw new CommandError('failed', `there is no event ${id}`)
  await eventPrinter(call, log)(event)
}
