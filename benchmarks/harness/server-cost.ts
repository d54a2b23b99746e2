import fs from 'node:fs'
import path from 'node:path'
import pg from 'pg'

/* What a Postgres server on this machine has spent. Reads proc(5), so it needs Linux. */

/** Totals since the server started. */
export interface Spent {
  /** Milliseconds of processor time of all its processes. */
  readonly cpu: number
  /** Bytes of WAL. */
  readonly wal: number
}

/** Fields of proc_pid_stat(5) after the name, which may contain spaces. */
const PARENT = 1
const [USER, SYSTEM, CHILDREN_USER, CHILDREN_SYSTEM] = [11, 12, 13, 14] as const
/** `sysconf(_SC_CLK_TCK)` is 100 on Linux. */
const MS_PER_TICK = 10

const statOf = (pid: number | string): string[] | undefined => {
  try {
    return fs
      .readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
  } catch {
    // The process has ended.
    return undefined
  }
}

const sum = (stat: readonly string[], fields: readonly number[]): number =>
  fields.reduce((total, field) => total + Number(stat[field]), 0)

/** Processor time of the process, of its running children, and of those that have ended. */
function cpuOf(pid: number): number {
  const all = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const children = all
    .map(statOf)
    .filter((stat) => stat !== undefined && Number(stat[PARENT]) === pid)
  const own = sum(statOf(pid)!, [USER, SYSTEM, CHILDREN_USER, CHILDREN_SYSTEM])
  const ticks = children.reduce((total, stat) => total + sum(stat!, [USER, SYSTEM]), own)
  return ticks * MS_PER_TICK
}

export interface ServerMeter {
  read(): Promise<Spent>
  close(): Promise<void>
}

const DATA = `SELECT current_setting('data_directory') AS data`
const WAL = `SELECT (pg_current_wal_lsn() - '0/0'::pg_lsn)::text AS wal`

/** The server runs on this machine, and the role may read its settings. */
export async function openServerMeter(url: string): Promise<ServerMeter> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ data: string }>(DATA)
  const pid = Number.parseInt(
    fs.readFileSync(path.join(rows[0]!.data, 'postmaster.pid'), 'utf8'),
    10,
  )
  return {
    async read() {
      const [written] = (await client.query<{ wal: string }>(WAL)).rows
      return { cpu: cpuOf(pid), wal: Number(written!.wal) }
    },
    close: () => client.end(),
  }
}

export const spentBetween = (before: Spent, after: Spent): Spent => ({
  cpu: after.cpu - before.cpu,
  wal: after.wal - before.wal,
})
