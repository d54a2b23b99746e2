import type { Call } from '../call/command.js'
import { write } from '../terminal/terminal.js'

export async function run(call: Call): Promise<void> {
  const { signal, stdout } = call.terminal
  const seals = call.config?.ledger?.signer !== undefined
  const log = await call.openLog({ readOnly: !seals, seals })
  const head = await log.checkpoint({ signal })
  await write(stdout, call.options['json'] ? `${JSON.stringify({ head })}\n` : head)
}
