import type { Checkup } from '../../src/store/checkup.js'
import { ask, type PostgresPoolClient } from './connection/client.js'
import type { Names } from './schema/names.js'

/*
 * The rights that a role needs on a log, and the GRANT for each that is missing. Partitions need none: the rights on the
 * table of events count for them.
 */

/** Rights to write, in the order of the statement. */
const WRITES = ['INSERT', 'UPDATE', 'DELETE'] as const
const READ = 'SELECT'

interface Kind {
  /** The name of such objects in GRANT. */
  readonly all: string
  readonly one: string
  readonly reads: readonly string[]
  readonly writes: readonly string[]
}

const KINDS: Readonly<Record<'table' | 'sequence' | 'function', Kind>> = {
  table: { all: 'ALL TABLES IN SCHEMA', one: 'TABLE', reads: [READ], writes: WRITES },
  sequence: {
    all: 'ALL SEQUENCES IN SCHEMA',
    one: 'SEQUENCE',
    reads: [READ],
    writes: ['USAGE', 'UPDATE'],
  },
  // Not all functions: those of capture have more rights than the role that calls them.
  function: { all: '', one: 'FUNCTION', reads: ['EXECUTE'], writes: ['EXECUTE'] },
}

/** An object of the log, and whether the role has each right on it. */
interface Owned {
  readonly kind: keyof typeof KINDS
  readonly name: string
  readonly has: Readonly<Record<string, boolean>>
  /** True if reading needs it too. */
  readonly isRead: boolean
}

interface Role {
  readonly role: string
  readonly schema: string
  readonly database: string
  readonly hasUsage: boolean
  readonly mayCreate: boolean
  readonly objects: readonly Owned[]
  /** The owner of the table of events, if only that role can add its partitions. */
  readonly owner: string | undefined
}

const RIGHTS_OF: Readonly<Record<Owned['kind'], readonly string[]>> = {
  table: [READ, ...WRITES],
  sequence: [READ, 'USAGE', 'UPDATE'],
  function: ['EXECUTE'],
}

const rightsSql = (kind: Owned['kind'], oid: string): string =>
  `concat_ws(' ', ${RIGHTS_OF[kind]
    .map((right) => `CASE WHEN has_${kind}_privilege(${oid}, '${right}') THEN '${right}' END`)
    .join(', ')})`

const ROLE = `SELECT quote_ident(current_user), quote_ident($1), quote_ident(current_database()),
    coalesce(has_schema_privilege(oid, 'USAGE'), false),
    CASE WHEN oid IS NULL THEN has_database_privilege(current_database(), 'CREATE')
      ELSE has_schema_privilege(oid, 'CREATE') END, oid IS NOT NULL
  FROM (SELECT) AS one LEFT JOIN pg_catalog.pg_namespace ON nspname = $1`

const OBJECTS = `SELECT 'table', quote_ident(relname), ${rightsSql('table', 'class.oid')},
    CASE WHEN relkind = 'p' AND NOT pg_has_role(relowner, 'USAGE') THEN quote_ident(pg_get_userbyid(relowner)) END
  FROM pg_catalog.pg_class AS class JOIN pg_catalog.pg_namespace AS space ON space.oid = relnamespace
  WHERE nspname = $1 AND relkind IN ('r', 'p', 'v') AND NOT relispartition
  UNION ALL SELECT 'sequence', quote_ident(relname), ${rightsSql('sequence', 'class.oid')}, NULL
  FROM pg_catalog.pg_class AS class JOIN pg_catalog.pg_namespace AS space ON space.oid = relnamespace
  WHERE nspname = $1 AND relkind = 'S'
  UNION ALL SELECT 'function', quote_ident(proname), ${rightsSql('function', 'proc.oid')}, NULL
  FROM pg_catalog.pg_proc AS proc JOIN pg_catalog.pg_namespace AS space ON space.oid = pronamespace
  WHERE nspname = $1 AND proname NOT LIKE 'capture%'
  ORDER BY 1, 2`

async function readRole(client: PostgresPoolClient, names: Names): Promise<Role | undefined> {
  const [row] = await ask(client, ROLE, names.schemaName)
  const [role, schema, database, hasUsage, mayCreate, exists] = row!
  const rows = exists === 't' ? await ask(client, OBJECTS, names.schemaName) : []
  const objects = rows.map(([kind, name, rights]): Owned => {
    const has = Object.fromEntries(rights!.split(' ').map((right) => [right, true]))
    const isRead = kind !== 'function' || names.server.endsWith(`.${name}`)
    return { kind: kind as Owned['kind'], name: name!, has, isRead }
  })
  return {
    role: role!,
    schema: schema!,
    database: database!,
    hasUsage: hasUsage === 't',
    mayCreate: mayCreate === 't',
    objects,
    owner: rows.find(([, , , owner]) => owner !== null)?.[3] ?? undefined,
  }
}

/** The statements that give the role the missing rights for reading, or writing. */
function missingGrants({ role, schema, objects }: Role, use: 'reads' | 'writes'): string[] {
  const grants = new Map<string, string[]>()
  for (const [kind, { all, one, ...needed }] of Object.entries(KINDS)) {
    const ofKind = objects.filter((object) => object.kind === kind)
    const usable = ofKind.filter(({ name, isRead }) =>
      use === 'reads' ? isRead : name !== 'schema_version',
    )
    for (const right of needed[use]) {
      const lacking = usable.filter(({ has }) => !has[right])
      if (lacking.length === 0) continue
      const isAll = all !== '' && lacking.length === usable.length
      const on = isAll
        ? `${all} ${schema}`
        : `${one} ${lacking.map(({ name }) => `${schema}.${name}`).join(', ')}`
      grants.set(on, [...(grants.get(on) ?? []), right])
    }
  }
  return [...grants].map(([on, rights]) => `GRANT ${rights.join(', ')} ON ${on} TO ${role}`)
}

const listed = (statements: readonly string[]): string => statements.join('; ')

/** A checkup of the rights, with advice unless they suffice. */
const rights = (status: Checkup['status'], found: string, remedy?: string): Checkup => ({
  name: 'rights',
  status,
  found,
  ...(remedy !== undefined && { remedy }),
})

/** Checks the rights of the role, and names each GRANT that is missing. */
export async function checkRights(
  client: PostgresPoolClient,
  names: Names,
  isReadOnly: boolean,
): Promise<Checkup> {
  const found = await readRole(client, names)
  const { role, schema, database, hasUsage, mayCreate, objects, owner } = found!
  if (objects.length === 0 && !mayCreate)
    return rights(
      'fail',
      `there is no log, and the role ${role} may not create one`,
      `GRANT CREATE ON DATABASE ${database} TO ${role}, or run daybook migrate as another role`,
    )
  if (objects.length === 0) return rights('pass', `the role ${role} may create the log`)
  const usage = hasUsage ? [] : [`GRANT USAGE ON SCHEMA ${schema} TO ${role}`]
  const reads = [...usage, ...missingGrants(found!, 'reads')]
  const writes = missingGrants(found!, 'writes')
  const canWrite = objects.some(({ has }) => has['INSERT'])
  const mayNotRead = `the role ${role} may not read the schema ${schema}`
  if (reads.length > 0)
    return rights('fail', mayNotRead, listed(isReadOnly ? reads : [...reads, ...writes]))
  if (isReadOnly) return rights('pass', `the role ${role} may read`)
  if (writes.length > 0)
    return rights(
      canWrite ? 'fail' : 'warn',
      canWrite
        ? `the role ${role} may not do all that recording needs`
        : `the role ${role} may only read`,
      listed(writes),
    )
  if (owner !== undefined)
    return rights(
      'warn',
      `the role ${role} may read and write, but not add partitions to the table of events`,
      `GRANT ${owner} TO ${role}, or open the log as ${owner} at least once a month`,
    )
  return rights('pass', `the role ${role} may read and write`)
}
