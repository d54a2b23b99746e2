import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type Driver from 'better-sqlite3'

/* What the benchmarks have in common: figures with their spread, tables, the sections in results.md. */

export type Print = (value: number) => string

export const whole: Print = (value) => Math.round(value).toLocaleString('en')
export const short: Print = (value) => {
  const size = Math.abs(value)
  return size < 1000 ? value.toPrecision(size < 99.5 ? 2 : 3) : whole(value)
}
export const milliseconds: Print = (value) => `${short(value)} ms`
export const microseconds: Print = (value) => `${short(value)} µs`
export const times: Print = (value) => `${short(value)}×`
export const percent: Print = (value) => `${short(value * 100)} %`

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

export function withSpread(values: readonly number[], print: Print): string {
  return `${print(median(values))} [${print(Math.min(...values))}–${print(Math.max(...values))}]`
}

export const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`

/** Processor, cores and Node of this machine. */
export function processor(): string {
  const cpus = os.cpus()
  return `${cpus[0]?.model.trim() ?? 'unknown processor'}, ${cpus.length} cores, Node ${process.versions.node}`
}

export function sqliteVersion(): string {
  const require = createRequire(import.meta.url)
  const Database = require('better-sqlite3') as typeof Driver
  const { version } = require('better-sqlite3/package.json') as { version: string }
  const database = new Database(':memory:')
  const sqlite = database.prepare('SELECT sqlite_version()').pluck().get() as string
  database.close()
  return `better-sqlite3 ${version} (SQLite ${sqlite})`
}

/** Other code than the built package can be measured, but the result has to say so. */
export function measuredCode(): string {
  const entry = fileURLToPath(import.meta.resolve('daybook'))
  if (!fs.existsSync(entry)) throw new Error('there is no built package: run `npm run build` first')
  return entry.endsWith('.ts') ? 'the sources' : 'the built package'
}

/** Replaces the section of a suite in benchmarks/results.md. */
export function writeSection(name: string, text: string): void {
  const file = path.join(import.meta.dirname, '../results.md')
  const results = fs.readFileSync(file, 'utf8')
  const section = new RegExp(`(<!-- suite:${name} -->\n).*?(<!-- /suite:${name} -->)`, 's')
  if (!section.test(results)) throw new Error(`results.md has no section suite:${name}`)
  fs.writeFileSync(
    file,
    results.replace(section, (_, begin: string, end: string) => `${begin}\n${text}\n\n${end}`),
  )
}
