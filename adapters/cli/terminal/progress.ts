import type { Terminal } from './terminal.js'

const FIRST_AFTER_MS = 1000
const EVERY_MS = 200

export interface Progress {
  /** Sets the completed amount, and the total if it is known. */
  update(done: number, total?: number): void
  /** Removes the line, so that the next output begins on an empty line. */
  stop(): void
}

function durationText(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`
  return `${(seconds / 3600).toFixed(1)} h`
}

export interface ProgressOptions {
  /** Name of the activity: `exporting`. */
  readonly label: string
  /** Name of the counted things: `events`. */
  readonly unit: string
  /** Writes an amount. @default a whole number */
  readonly format?: (amount: number) => string
}

const wholeNumber = (amount: number): string => Math.floor(amount).toLocaleString('en')

/** One line for the work after some seconds: `exporting  12,000 of 90,000 events (13 %)  4,100/s  19 s left`. */
export function progressLine(
  { label, unit, format = wholeNumber }: ProgressOptions,
  {
    done,
    total,
    seconds,
  }: { readonly done: number; readonly total?: number | undefined; readonly seconds: number },
): string {
  const rate = done / seconds
  const parts = [label]
  if (total === undefined || total < done) {
    parts.push(`${format(done)} ${unit}`)
  } else {
    const percent = total === 0 ? 100 : Math.floor((100 * done) / total)
    parts.push(`${format(done)} of ${format(total)} ${unit} (${percent} %)`)
  }
  parts.push(`${format(rate)}/s`)
  if (total !== undefined && total > done && rate > 0)
    parts.push(`${durationText((total - done) / rate)} left`)
  return parts.join('  ')
}

/** Shows how long the work has taken, if the total cannot be known. */
export function showElapsed(
  { stderr }: Pick<Terminal, 'stderr'>,
  label: string,
): Pick<Progress, 'stop'> {
  if (!stderr.isTTY) return { stop() {} }
  const start = performance.now()
  let isDrawn = false
  const timer = setInterval(() => {
    isDrawn = true
    stderr.write(`\r\u001B[2K${label}  ${durationText((performance.now() - start) / 1000)}`)
  }, FIRST_AFTER_MS)
  return {
    stop() {
      clearInterval(timer)
      if (isDrawn) stderr.write('\r\u001B[2K')
    },
  }
}

/** Shows progress on a terminal at stderr, from one second after the start on. Otherwise shows nothing. */
export function showProgress(
  { stderr }: Pick<Terminal, 'stderr'>,
  options: ProgressOptions,
): Progress {
  if (!stderr.isTTY) return { update() {}, stop() {} }
  const start = performance.now()
  let drawnAt = start + FIRST_AFTER_MS - EVERY_MS
  let isDrawn = false
  return {
    update(done, total) {
      const now = performance.now()
      if (now - drawnAt < EVERY_MS) return
      drawnAt = now
      isDrawn = true
      const line = progressLine(options, { done, total, seconds: (now - start) / 1000 })
      stderr.write(`\r\u001B[2K${line.slice(0, (stderr.columns ?? 80) - 1)}`)
    },
    stop() {
      if (isDrawn) stderr.write('\r\u001B[2K')
    },
  }
}
