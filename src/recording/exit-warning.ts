/** Counts the work that is lost if the process exits now. */
export interface Unfinished {
  count(): number
}

/** Emits a process warning if work is unfinished when the process exits. */
export interface ExitWarning {
  add(source: Unfinished): void
  delete(source: Unfinished): void
}

/** `messageOf` gets the sum of the counts, if it is not 0. */
export function createExitWarning(messageOf: (count: number) => string): ExitWarning {
  const sources = new Set<Unfinished>()
  let isInstalled = false
  const warn = (): void => {
    let sum = 0
    for (const source of sources) sum += source.count()
    // `process.emitWarning` would wait for a turn of the event loop that never comes.
    if (sum > 0)
      process.emit('warning', Object.assign(new Error(messageOf(sum)), { name: 'Warning' }))
  }
  return {
    add(source) {
      sources.add(source)
      if (!isInstalled) process.on('exit', warn)
      isInstalled = true
    },
    delete: (source) => void sources.delete(source),
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
