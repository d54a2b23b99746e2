import { EXPORT_FORMATS } from '../../../src/exporting/formats.js'
import type { Command } from '../call/command.js'
import { concealOption, queryOptions, rangeOptions } from '../call/query.js'
import { utcOption } from '../call/times.js'

export const exportCommand: Command = {
  name: 'export',
  summary: 'write matching events to a file or to stdout',
  description:
    'Writes all matching events that exist when it starts, oldest first. An interrupted export of lines can go on: --resume reads the last whole line of the file and adds the events after it. A Parquet file appears only once it is whole.',
  arguments: [{ name: 'query', description: 'a query string, or an address of the audit page' }],
  options: [
    ...queryOptions,
    concealOption,
    ...rangeOptions,
    utcOption,
    {
      flags: '--format <format>',
      description: 'the format',
      choices: EXPORT_FORMATS,
      default: 'ndjson',
    },
    { flags: '-o, --out <file>', description: 'the file to write; without it stdout' },
    { flags: '--resume', description: 'go on with the file of --out after its last whole line' },
    { flags: '--overwrite', description: 'replace the file of --out' },
    {
      flags: '--columns <names>',
      description: 'attributes that become columns of CSV and Parquet, separated by commas',
      read: (text) => text.split(',').map((name) => name.trim()),
    },
    {
      flags: '--service <name>',
      description: 'the name of the service in CloudEvents, OCSF and OTLP',
    },
    {
      flags: '--manifest',
      description:
        'also write <file>.manifest.json with the number of events, the bytes and their SHA-256',
    },
  ],
  targets: ['sqlite', 'postgres', 'http'],
  examples: [
    { run: 'daybook export audit.db --out events.ndjson', says: 'all events as lines of JSON' },
    {
      run: 'daybook export audit.db --format parquet --out 2026.parquet --manifest',
      says: 'a file for DuckDB, with its checksum',
    },
    {
      run: "daybook export audit.db 'filter[type_start]=error:' --format ocsf | gzip > errors.gz",
      says: 'errors in the format of security tools, compressed',
    },
  ],
  load: () => import('../run/export.js'),
}
