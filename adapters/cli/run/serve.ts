import { once } from 'node:events'
import type { Call } from '../call/command.js'
import { openServedLog } from '../serve/served-log.js'
import { openSite, type Site } from '../serve/site.js'
import { readSource } from '../serve/source.js'
import { removeStaleFolders } from '../serve/temp-folder.js'
import { CommandError } from '../terminal/exit-codes.js'
import { printNotice } from '../terminal/notice.js'
import { write } from '../terminal/terminal.js'

function listenFailure(error: unknown, port: number): Error {
  const { code } = error as NodeJS.ErrnoException
  return code === 'EADDRINUSE'
    ? new CommandError('failed', `--port ${port}: another process uses this port`)
    : (error as Error)
}

export async function run(call: Call): Promise<void> {
  const { options, terminal } = call
  const { stdout, signal, env } = terminal
  const port = (options['port'] as number | undefined) ?? 0
  const source = readSource(call)
  removeStaleFolders()
  const served = await openServedLog(source, call)
  const { audit } = served.log
  let site: Site | undefined
  try {
    // Reports a log that cannot be read now, instead of in the page.
    await audit!.list('limit=1', { signal })
    const username = env['USER'] || env['USERNAME'] || 'you'
    site = await openSite(audit!, { port, name: source.name, username }).catch((error: unknown) => {
      throw listenFailure(error, port)
    })
    const { url } = site
    await write(stdout, `${options['json'] ? JSON.stringify({ url }) : url}\n`)
    const hints = [...served.notes, 'the address works once; Ctrl-C ends the server']
    for (const hint of hints) printNotice(terminal, hint, options['json'] === true)
    if (!signal.aborted) await once(signal, 'abort')
  } finally {
    await site?.close()
    await served.close()
  }
}
