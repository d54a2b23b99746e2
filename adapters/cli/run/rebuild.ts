import type { Call } from '../call/command.js'
import { showProgress } from '../terminal/progress.js'
import { write } from '../terminal/terminal.js'

export async function run(call: Call): Promise<void> {
  const { terminal, options } = call
  const { audit } = await call.openLog({ readOnly: false })
  const progress = showProgress(terminal, { label: 'building the index', unit: 'events' })
  const start = performance.now()
  await audit!
    .rebuildIndex({
      signal: terminal.signal,
      onProgress: ({ done, total }) => progress.update(done, total),
    })
    .finally(() => progress.stop())
  const seconds = (performance.now() - start) / 1000
  const text = options['json']
    ? JSON.stringify({ seconds })
    : `the index was built in ${seconds.toFixed(1)} s`
  await write(terminal.stdout, `${text}\n`)
}
