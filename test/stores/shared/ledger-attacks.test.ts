import { testAttacks } from './ledger-attack-cases.js'

/*
 * Somebody who can write to the database, and has no key, changes it. `ledger-attacks.release.test.ts` makes all attacks on all stores; here the others
 * have those that run other code of the store.
 */

testAttacks('SQLite')
testAttacks('memory', {
  names: ['two events exchanged', 'an event, its leaf and all nodes above changed'],
})
testAttacks('Postgres', {
  names: [
    'an attribute changed',
    'the event of a captured row removed',
    'an event inserted and listed as late, and then sealed',
    'an event inserted, and given the leaf of another one',
    'the high-water mark set back',
    'a removed event put back, whose row of leaves is gone',
    'an event changed so that a cleaning rule takes it, which then runs',
    'the ledger dropped',
    'an older copy put back, and a process with a key service goes on',
  ],
})
