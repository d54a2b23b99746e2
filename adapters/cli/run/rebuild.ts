import type { Call } from '../call/command.js'
import { showElapsed } from '../terminal/progress.js'
import { write } from '../terminal/terminal.js'

export async function run(call: Call): Promise<void> {
  const { terminal, options } = call
  const { audit } = await call.openLog({ readOnly: false })
  const elapsed = showElapsed(terminal, 'building the index')
  const start = performance.now()
  await audit!.rebuildIndex({ signal: terminal.signal }).finally(() => elapsed.stop())
  const seconds = (performance.now() - start) / 1000
  const text = options['json']
    ? JSON.stringify({ seconds })
    : `the index was built in ${seconds.toFixed(1)} s`
  await write(terminal.stdout, `${text}\n`)
}
