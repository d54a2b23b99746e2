import type { Command } from '../call/command.js'
import { keyOption } from '../call/options.js'
import { concealOption } from '../call/query.js'

export const serve: Command = {
  name: 'serve',
  summary: 'show a log or archive files on the audit page, for reading',
  description:
    'Serves the audit page and the feed on 127.0.0.1, and prints the address that opens the page. The address works once: the browser that opens it gets a cookie, and all other requests are refused. Ctrl-C ends the server.\n\nNothing is written to the log or beside it. A SQLite file that no process has open is copied to the temporary folder first, and the copy is served until a process opens the file. Archive files, and all archive files of a folder, are imported into a temporary database: JSON lines, plain or gzip, or Parquet. Both are deleted when the command ends; TMPDIR names another folder for them.',
  arguments: [
    {
      name: 'files',
      description: 'further archive files or folders, if the log is an archive file or a folder',
      variadic: true,
    },
  ],
  options: [
    concealOption,
    keyOption,
    {
      flags: '--port <n>',
      description: 'the port; any free one if not given',
      read(text) {
        const port = Number(text)
        if (/^\d{1,5}$/.test(text) && port <= 65_535) return port
        throw new Error('must be a whole number from 0 to 65535')
      },
    },
  ],
  targets: ['sqlite', 'postgres'],
  examples: [
    { run: 'daybook serve audit.db', says: 'the page over a log' },
    { run: 'daybook serve postgres://localhost/app --port 8080', says: 'a log on Postgres' },
    { run: 'daybook serve /var/archive', says: 'all files of an archive by year and month' },
    {
      run: 'daybook serve events.parquet errors.ndjson.gz',
      says: 'the events of two exports together',
    },
  ],
  load: () => import('../run/serve.js'),
}
