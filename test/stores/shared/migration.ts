import { expect, it } from 'vitest'

/* A schema for tests: a table of notes, to which version 2 adds a column. */
export const VERSION_1: readonly string[] = ['CREATE TABLE notes (text text NOT NULL);']
export const VERSION_2: readonly string[] = [
  ...VERSION_1,
  'ALTER TABLE notes ADD COLUMN length integer; UPDATE notes SET length = length(text);',
]

/** Functions with which tests migrate a schema of one store. The schema is initially empty. */
export interface MigrationHarness {
  /** Migrates over a separate connection, as another process would. */
  migrate(migrations: readonly string[]): Promise<void>
  run(sql: string): Promise<unknown>
  rows(sql: string): Promise<readonly unknown[]>
  version(): Promise<unknown>
  readonly versionTable: string
}

/** The tests that are the same for each store. */
export function describeMigration({
  migrate,
  run,
  rows,
  version,
  versionTable,
}: MigrationHarness): void {
  it('a new schema gets the newest version', async () => {
    await migrate(VERSION_2)
    expect(await version()).toBe(2)
    expect(await rows('SELECT text, length FROM notes')).toEqual([])
  })

  it('a schema of version 1 keeps its rows', async () => {
    await migrate(VERSION_1)
    await run(`INSERT INTO notes VALUES ('four')`)
    await migrate(VERSION_2)
    expect(await version()).toBe(2)
    expect(await rows('SELECT * FROM notes')).toEqual([{ text: 'four', length: 4 }])
  })

  it('a migration that fails changes nothing', async () => {
    await migrate(VERSION_1)
    await run(`INSERT INTO notes VALUES ('four')`)
    const failing = migrate([...VERSION_2, 'SELECT * FROM missing;'])
    await expect(failing).rejects.toThrow(/missing/)
    expect(await version()).toBe(1)
    expect(await rows('SELECT * FROM notes')).toEqual([{ text: 'four' }])
  })

  it('a schema of a newer version is refused', async () => {
    await migrate(VERSION_2)
    await expect(migrate(VERSION_1)).rejects.toMatchObject({
      code: 'SCHEMA_MISMATCH',
      message: expect.stringMatching(/has (schema )?version 2; this version of daybook knows 1/),
    })
    expect(await version()).toBe(2)
  })

  it.each([
    [`SET form = 2`, 'has events in form 2; this version of daybook knows 1: update daybook'],
    [`DROP COLUMN form`, 'does not state the form of its events'],
  ])('events of a newer form, or of none, are refused: %s', async (change, message) => {
    await migrate(VERSION_1)
    const statement = change.startsWith('SET') ? 'UPDATE' : 'ALTER TABLE'
    await run(`${statement} ${versionTable} ${change}`)
    await expect(migrate(VERSION_2)).rejects.toMatchObject({
      code: 'SCHEMA_MISMATCH',
      message: expect.stringContaining(message),
    })
    expect(await version()).toBe(1)
  })
}
