import { type FileHandle, open } from 'node:fs/promises'
import { eventJson } from '../../../src/event/body.js'
import { recordRead } from '../../../src/reading/recorded-reads.js'
import { DEFAULT_FILE_MODE } from '../../../src/store/file-mode.js'
import type { Call } from '../call/command.js'
import { readSubjectArgument, requirePrivacy } from '../call/subject.js'
import { userOf } from '../log/stored-log.js'
import { usageError } from '../terminal/exit-codes.js'
import { write } from '../terminal/terminal.js'

/** Creates the file. Throws a usage error if it exists or cannot be created. */
async function createOutput(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'wx', DEFAULT_FILE_MODE)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw usageError(code === 'EEXIST' ? `${file} exists` : `--out ${file}: ${message}`)
  }
}

export async function run(call: Call): Promise<void> {
  const { options, terminal } = call
  const { signal, stdout } = terminal
  const file = options['out'] as string | undefined
  if (file === '') throw usageError('--out is empty: it names the file of the report')
  const subject = readSubjectArgument(call)!
  requirePrivacy(call, 'subject-report')
  const { audit } = await call.openLog()
  const username = userOf(terminal.env)
  await recordRead(audit!, { action: 'subject_report', username, query: '' })
  let handle: FileHandle | undefined
  try {
    const events = audit!.subjectReport(subject, { signal })
    // The first event is read before the file is created, so a report that is refused leaves none.
    let next = await events.next()
    handle = file === undefined ? undefined : await createOutput(file)
    for (; !next.done; next = await events.next()) {
      const line = `${eventJson(next.value)}\n`
      await (handle ? handle.write(line) : write(stdout, line))
    }
    await handle?.sync()
  } finally {
    await handle?.close()
  }
}
