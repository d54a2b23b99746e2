import fs from 'node:fs'
import path from 'node:path'
import type { Call } from '../call/command.js'
import { readTarget, type Target, targetName } from '../log/target.js'
import { CommandError, usageError } from '../terminal/exit-codes.js'
import { archiveFilesIn } from './archive-files.js'
import { isSqliteFile } from './sqlite-file.js'

export type StoredTarget = Exclude<Target, { readonly kind: 'http' }>

/** Source of the served events: a log, or files. */
export type Source =
  | { readonly kind: 'log'; readonly name: string; readonly target: StoredTarget }
  | { readonly kind: 'archive'; readonly name: string; readonly files: readonly string[] }

function statOf(file: string): fs.Stats {
  const found = fs.statSync(file, { throwIfNoEntry: false })
  if (found) return found
  throw new CommandError('unreachable', `there is no file ${file}`)
}

/** Reads the log and the files of the command. The log of DAYBOOK_LOG is not served if files are given. */
export function readSource({ arguments: { files }, target, terminal: { env } }: Call): Source {
  const others = (files as readonly string[]).map((text) => readTarget(text))
  const isFirstGiven = !env['DAYBOOK_LOG'] || others.length === 0
  const targets = isFirstGiven ? [target, ...others] : others
  const [only] = targets
  if (only?.kind === 'postgres' && targets.length === 1)
    return { kind: 'log', name: targetName(only), target: only }
  const paths = targets.map((one) => {
    if (one.kind === 'sqlite') return one.filename
    throw usageError(
      one.kind === 'http'
        ? `serve works on files and on Postgres, not on ${targetName(one)}`
        : `${targetName(one)}: serve takes one log, or archive files`,
    )
  })
  const archives = paths.flatMap((file) => {
    if (statOf(file).isDirectory()) return archiveFilesIn(file)
    return isSqliteFile(file) ? [] : [file]
  })
  const name = path.basename(path.resolve(paths[0]!))
  if (archives.length === 0 && paths.length === 1)
    return { kind: 'log', name, target: { kind: 'sqlite', filename: paths[0]! } }
  const log = paths.find((file) => statOf(file).isFile() && isSqliteFile(file))
  if (log !== undefined) throw usageError(`${log}: serve takes one log, or archive files`)
  const rest = paths.length === 1 ? '' : ` and ${paths.length - 1} more`
  return { kind: 'archive', name: name + rest, files: archives }
}
