import path from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'

/** Files that take less than this are summed up. */
const LISTED_SECONDS = 1

/** Seconds that a worker spent on the file, its imports included. */
function secondsOf(module: TestModule): number {
  const { collectDuration, duration, environmentSetupDuration, prepareDuration, setupDuration } =
    module.diagnostic()
  const parts = [
    collectDuration,
    duration,
    environmentSetupDuration,
    prepareDuration,
    setupDuration,
  ]
  return parts.reduce((sum, ms) => sum + ms, 0) / 1000
}

const row = (seconds: number, name: string): string => `${seconds.toFixed(1).padStart(8)}  ${name}`

interface TimedFile {
  readonly file: string
  readonly seconds: number
}

const sumOf = (files: readonly TimedFile[]): number =>
  files.reduce((total, { seconds }) => total + seconds, 0)

/** The seconds of each folder and of its slow files, the slowest first. */
function secondsByFolder(timed: readonly TimedFile[]): string[] {
  const byFolder = new Map<string, TimedFile[]>()
  for (const file of timed.toSorted((left, right) => right.seconds - left.seconds)) {
    const folder = path.dirname(file.file)
    byFolder.set(folder, [...(byFolder.get(folder) ?? []), file])
  }
  const folders = [...byFolder].toSorted(([, left], [, right]) => sumOf(right) - sumOf(left))
  return folders.flatMap(([folder, files]) => {
    const slow = files.filter(({ seconds }) => seconds >= LISTED_SECONDS)
    const quick = files.slice(slow.length)
    return [
      row(sumOf(files), `${folder} (${files.length} files)`),
      ...slow.map(({ file, seconds }) => row(seconds, `  ${path.basename(file)}`)),
      ...(slow.length > 0 && quick.length > 0
        ? [row(sumOf(quick), `  ${quick.length} others`)]
        : []),
    ]
  })
}

/**
 * Prints the seconds of each folder and its slow files. At the end of the run, prints one plain line for other tools:
 * `12 passed, 0 failed, 1 skipped`.
 */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const counts = { passed: 0, failed: errors.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      // A file that cannot be loaded has no failed tests.
      if (module.errors().length > 0) counts.failed++
      for (const test of module.children.allTests()) counts[test.result().state]++
    }
    const files = modules.map((module) => ({
      file: path.relative(process.cwd(), module.moduleId),
      seconds: secondsOf(module),
    }))
    const { passed, failed, skipped } = counts
    // Printed after the summary of the default reporter.
    process.once('exit', () => {
      if (files.length > 1) console.log(secondsByFolder(files).join('\n'))
      console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`)
    })
  }
}
