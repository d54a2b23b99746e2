import type { Call } from '../call/command.js'
import { eventPrinter } from '../call/rows.js'
import { CommandError, usageError } from '../terminal/exit-codes.js'

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

export async function run(call: Call): Promise<void> {
  const id = String(call.arguments['id'])
  if (!UUID.test(id)) throw usageError(`${id} is not an id; ids are UUIDs`)
  const log = await call.openLog()
  const event = await log.get(id, { signal: call.terminal.signal })
  if (!event) throw new CommandError('failed', `there is no event ${id}`)
  await eventPrinter(call, log)(event)
}
