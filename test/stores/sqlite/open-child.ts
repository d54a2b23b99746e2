import { suffixSource } from '../../../src/event/event-id.js'
import { sqliteStore } from 'daybook/sqlite'

/* Opens and changes a live event, and runs until it is killed: `<file>`. Prints the id of the event. */
const [filename = ''] = process.argv.slice(2)
const store = sqliteStore({ filename })
const draft = {
  suffix: suffixSource()(),
  username: 'ann',
  system: true,
  type: 'live',
  source: null,
}
const [event] = await store.append([{ ...draft, attributes: {}, json: '{"log":""}', live: true }])
const texts = [{ key: 'log', text: 'so far', replaces: false }]
await store.changeLive(event!.id, { revision: 1, json: '{"log":"","stage":2}', texts })
console.log(event!.id)
setInterval(() => {}, 1000)
