import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Call } from '../call/command.js'
import { openServedLog, type ServedLog } from '../serve/served-log.js'
import { openSite, type Site } from '../serve/site.js'
import { readSource, type Source } from '../serve/source.js'
import { removeStaleFolders } from '../serve/temp-folder.js'
import { CommandError, messageOf } from '../terminal/exit-codes.js'
import { printNotice } from '../terminal/notice.js'
import { write } from '../terminal/terminal.js'

function listenFailure(error: unknown, port: number): Error {
  const { code } = error as NodeJS.ErrnoException
  return code === 'EADDRINUSE'
    ? new CommandError('failed', `--port ${port}: another process uses this port`)
    : (error as Error)
}

// Interval of the checks whether a process has opened the file.
const CHECK_MS = 1000

function printHints(hints: readonly string[], { terminal, options }: Call): void {
  for (const hint of hints) printNotice(terminal, hint, options['json'] === true)
}

/** Opens the log, and reads from it, so that a fault is reported here and not in the page. */
async function openReadable(source: Source, call: Call): Promise<ServedLog> {
  const served = await openServedLog(source, call)
  try {
    await served.log.audit!.list('limit=1', { signal: call.terminal.signal })
    return served
  } catch (error) {
    await served.close()
    throw error
  }
}

/** Waits until the copy is outdated or the command ends. Resolves to the log that the site then shows. */
async function replaceCopy(
  copy: ServedLog,
  source: Source,
  site: Site,
  call: Call,
): Promise<ServedLog> {
  const { signal } = call.terminal
  while (!signal.aborted && !copy.isOutdated())
    await delay(CHECK_MS, undefined, { signal }).catch(() => undefined)
  if (signal.aborted) return copy
  try {
    const next = await openReadable(source, call)
    site.show(next.log.audit!)
    await copy.close()
    return next
  } catch (error) {
    printHints([`the copy is served as it was: ${messageOf(error)}`], call)
    return copy
  }
}

export async function run(call: Call): Promise<void> {
  const { options, terminal } = call
  const { stdout, signal, env } = terminal
  const port = (options['port'] as number | undefined) ?? 0
  const source = readSource(call)
  removeStaleFolders()
  let served = await openReadable(source, call)
  let site: Site | undefined
  try {
    const username = env['USER'] || env['USERNAME'] || 'you'
    const conceal = options['conceal'] as readonly string[] | undefined
    const shown = { port, name: source.name, username, conceal }
    site = await openSite(served.log.audit!, shown).catch((error: unknown) => {
      throw listenFailure(error, port)
    })
    const { url } = site
    await write(stdout, `${options['json'] ? JSON.stringify({ url }) : url}\n`)
    printHints([...served.notes, 'the address works once; Ctrl-C ends the server'], call)
    if (served.isCopy) served = await replaceCopy(served, source, site, call)
    if (!signal.aborted) await once(signal, 'abort')
  } finally {
    await site?.close()
    await served.close()
  }
}
