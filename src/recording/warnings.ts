import { ProcessWarning, warn } from '../async/warn.js'
/** Returns a function that emits a process warning once for each cause, for at most `max` causes. */
export function createWarnOnce(max: number): (cause: string, message: string) => void {
  const given = new Set<string>()
  return (cause, message) => {
    if (given.has(cause) || given.size >= max) return
    given.add(cause)
    warn(message)
  }
}

/** Counts the work that is lost if the process exits now. */
interface Unfinished {
  count(): number
}

/**
 * Sources of unfinished work. If any work is unfinished when the process exits, emits a warning with the sum of the
 * counts.
 */
function createExitWarning(messageOf: (count: number) => string) {
  const sources = new Set<Unfinished>()
  let isInstalled = false
  const emit = (): void => {
    let sum = 0
    for (const source of sources) sum += source.count()
    // `process.emitWarning` would wait for a turn of the event loop that never comes.
    if (sum > 0) process.emit('warning', new ProcessWarning(messageOf(sum)))
  }
  return {
    add(source: Unfinished): void {
      sources.add(source)
      if (!isInstalled) process.on('exit', emit)
      isInstalled = true
    },
    delete: (source: Unfinished): void => void sources.delete(source),
  }
}

/** Such as `1 lost event is`, for the kind `lost `. */
export const eventsWithVerb = (count: number, kind = ''): string =>
  `${count} ${kind}${count === 1 ? 'event is' : 'events are'}`

export const waitingAtExit = createExitWarning(
  (count) =>
    `the process exits before ${eventsWithVerb(count)} acknowledged: await audit.close() before process.exit()`,
)

export const lossesAtExit = createExitWarning(
  (count) =>
    `${eventsWithVerb(count, 'lost ')} not reported in the audit log, because the process exits before the store takes a gap event`,
)
