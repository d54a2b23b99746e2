import { presets } from '../../../src/presets/presets.js'
import type { Command } from '../call/command.js'

const untriedNames = presets.filter(({ isUntried }) => isUntried).map(({ name }) => name)
const untried = untriedNames.length > 0 ? ` (untried: ${untriedNames.join(', ')})` : ''

export const importCommand: Command = {
  name: 'import',
  summary: 'take events or other records from files into the log',
  description:
    'Without --record the files have whole events: exports, or archives of cleaning, as lines of JSON, plain or gzip, or as Parquet. They keep their ids and times, and events that the log has already are skipped.\n\nWith --record or --preset each record is recorded as a new custom event, with the whole record as its attributes. Records are on lines, or in lists such as […] and {"Records":[…]}. A record of the same file that was recorded within the last 24 hours is not recorded again, so an import that was interrupted can be repeated.\n\nIn an empty log, created_at of the events is the time of their records. Events of one time are a microsecond apart, in the order of their records. A record without a time, or with one in the future, gets the time of the import.\n\nFiles may be compressed by gzip, and by zstd where Node.js reads it.\n\nA SQLite file that does not exist is created.',
  arguments: [
    { name: 'files', description: 'the files, or - for stdin', required: true, variadic: true },
  ],
  options: [
    { flags: '--record', description: 'record each line as a custom event' },
    {
      flags: '--preset <name>',
      description: `the log that the lines are from; it gives types, users, times and sentences${untried}`,
      choices: presets.map(({ name }) => name),
    },
    {
      flags: '--type <field>',
      description: 'the field of the event type: eventName, winlog.event_id',
    },
    {
      flags: '--type-prefix <text>',
      description: 'the prefix of types that come from the field: windows:',
    },
    {
      flags: '--type-literal <text>',
      description: 'the type of lines without that field; import:record if not given',
    },
    { flags: '--user <field>', description: 'the field of the user name' },
    {
      flags: '--time <field>',
      description:
        'the field of the time, recorded as occurred_at: ISO 8601, or seconds to nanoseconds since 1970, also as text',
    },
    {
      flags: '--created-at <from>',
      description:
        'where created_at comes from: the time of the record, or that of the import; record if not given and the log is empty',
      choices: ['record', 'import'],
    },
    { flags: '--limit <n>', description: 'the largest number of records to read' },
    { flags: '--dry-run', description: 'read the files, and store nothing' },
  ],
  targets: ['sqlite', 'postgres'],
  examples: [
    { run: 'daybook import audit.db archive/*.ndjson.gz', says: 'bring archived events back' },
    {
      run: 'daybook import trail.db cloudtrail.ndjson.gz --preset cloudtrail',
      says: 'read a log of AWS CloudTrail',
    },
    {
      run: 'journalctl -o json | daybook import host.db - --record --type SYSLOG_IDENTIFIER --type-prefix journal:',
      says: 'record lines of JSON of another program',
    },
  ],
  load: () => import('../run/import.js'),
}
