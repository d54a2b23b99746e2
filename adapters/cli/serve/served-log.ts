import fs from 'node:fs'
import type { Call } from '../call/command.js'
import { importEvents } from '../importing/import-events.js'
import type { LogConfig, OpenLog } from '../log/log.js'
import { openLog } from '../log/open-log.js'
import { CommandError, exitOf, messageOf, usageError } from '../terminal/exit-codes.js'
import { megabytesText, numberText } from '../terminal/format.js'
import { showProgress } from '../terminal/progress.js'
import type { Source, StoredTarget } from './source.js'
import { readableFile } from './sqlite-file.js'
import { createTempFolder, type TempFolder } from './temp-folder.js'

export interface ServedLog {
  readonly log: OpenLog
  /** Notes for the user about it. */
  readonly notes: readonly string[]
  readonly isCopy: boolean
  /** True for a copy, once the log itself can be opened. */
  readonly isOutdated: () => boolean
  close(): Promise<void>
}

/** A log whose temporary folder the caller removes. */
type Opened = Omit<ServedLog, 'close'>

const UNCOPIED = { isCopy: false, isOutdated: () => false }

/** Arguments for opening a log for the command. */
interface Opening {
  readonly call: Call
  /** Returns the temporary folder. The first call creates it. */
  readonly folder: () => TempFolder
}

async function openFileOrDatabase(
  target: StoredTarget,
  { call, folder }: Opening,
): Promise<Opened> {
  const { terminal, config } = call
  const ledgerKey = call.options['key'] as string | undefined
  const options = { readOnly: true, config, ledgerKey }
  // Reads are recorded in the log itself, not in a copy of its file.
  if (target.kind === 'postgres' || config?.ownEvents?.reads === true)
    return {
      log: await openLog(target, options, terminal),
      ...UNCOPIED,
      notes: [],
    }
  const { filename, isCopy, isOutdated } = await readableFile(target.filename, folder, terminal)
  try {
    const log = await openLog({ kind: 'sqlite', filename }, options, terminal)
    const note = `no process has ${target.filename} open: a copy of it is served until one opens it`
    return { log, notes: isCopy ? [note] : [], isCopy, isOutdated }
  } catch (error) {
    if (!isCopy) throw error
    throw new CommandError(exitOf(error), messageOf(error).replaceAll(filename, target.filename))
  }
}

/** The part of the configuration that describes events. */
const descriptions = ({ types, customTypes }: LogConfig = {}): LogConfig => ({
  ...(types && { types }),
  ...(customTypes && { customTypes }),
})

const sizeOf = (file: string): number => fs.statSync(file).size

/**
 * Creates a log in the temporary folder with the events of the files. It stays open for writing, because otherwise
 * its index would not be built.
 */
async function importFiles(
  files: readonly string[],
  { call: { terminal, config, options }, folder }: Opening,
): Promise<Opened> {
  const { signal } = terminal
  if (options['key'] !== undefined) throw usageError('--key: archive files have no ledger')
  const log = await openLog(
    { kind: 'sqlite', filename: folder().file('audit.db') },
    { readOnly: false, migrate: true, config: descriptions(config) },
    terminal,
  )
  const total = files.reduce((bytes, file) => bytes + sizeOf(file), 0)
  const progress = showProgress(terminal, { label: 'importing', unit: 'MB', format: megabytesText })
  let [before, imported, skipped] = [0, 0, 0]
  try {
    for (const file of files) {
      const onProgress = (bytes: number): void => progress.update(before + bytes, total)
      const result = await importEvents(log.audit!, file, { signal, onProgress }).catch(
        (error: unknown) => {
          if (error instanceof CommandError) throw error
          throw new CommandError(exitOf(error), `${file}: ${messageOf(error)}`)
        },
      )
      imported += result.imported
      skipped += result.skipped
      before += sizeOf(file)
    }
  } catch (error) {
    await log.close()
    throw error
  } finally {
    progress.stop()
  }
  const counted = `${numberText(imported)} events of ${numberText(files.length)} ${files.length === 1 ? 'file' : 'files'}`
  const twice = skipped === 0 ? '' : `; ${numberText(skipped)} were there twice`
  return { log, notes: [counted + twice], ...UNCOPIED }
}

/** Opens the served log. Nothing is written to the files and the folders of the user. */
export async function openServedLog(source: Source, call: Call): Promise<ServedLog> {
  let folder: TempFolder | undefined
  const opening: Opening = { call, folder: () => (folder ??= createTempFolder()) }
  try {
    const opened =
      source.kind === 'log'
        ? await openFileOrDatabase(source.target, opening)
        : await importFiles(source.files, opening)
    return {
      ...opened,
      async close() {
        try {
          await opened.log.close()
        } finally {
          folder?.remove()
        }
      },
    }
  } catch (error) {
    folder?.remove()
    throw error
  }
}
