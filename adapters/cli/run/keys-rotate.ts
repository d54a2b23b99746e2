import type { Call } from '../call/command.js'
import { loadDefault } from '../call/config.js'
import { requirePrivacy } from '../call/subject.js'
import { usageError } from '../terminal/exit-codes.js'
import { counted } from '../terminal/format.js'
import { printNotice } from '../terminal/notice.js'
import { write } from '../terminal/terminal.js'

export async function run(call: Call): Promise<void> {
  const { options, terminal } = call
  const to = options['to'] as string | undefined
  if (!to) throw usageError('--to is missing: it names the module of the next master key')
  const { keys } = requirePrivacy(call, 'keys rotate')
  try {
    const next = await loadDefault(to, '--to')
    const rewrapped = await keys.rotate(next as Parameters<typeof keys.rotate>[0], {
      signal: terminal.signal,
    })
    const text = options['json']
      ? JSON.stringify({ keys: rewrapped })
      : `${counted(rewrapped, 'key')} wrapped with the next master key`
    await write(terminal.stdout, `${text}\n`)
    printNotice(
      terminal,
      'give the next master key to all services, then destroy the former one',
      options['json'] === true,
    )
  } finally {
    await keys.close()
  }
}
