import type { Call } from '../call/command.js'
import { readEventId } from '../call/event-id.js'
import { CommandError } from '../terminal/exit-codes.js'
import { write } from '../terminal/terminal.js'

export async function run(call: Call): Promise<void> {
  const { signal, stdout } = call.terminal
  const id = readEventId(call)
  const log = await call.openLog({ ledgerKey: call.options['key'] as string | undefined })
  const proof = await log.prove(id, { signal })
  if (proof === undefined) throw new CommandError('failed', `there is no event ${id}`)
  await write(stdout, call.options['json'] ? `${JSON.stringify({ proof })}\n` : proof)
}
