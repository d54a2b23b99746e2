import { openPlace, type PlaceOfPersons, REQUEST } from '../support/erasing.js'

/*
 * Erases a person, or events: `<place> <person or ids>`, both as JSON. Prints `begin`, and `done <milliseconds>`. Is killed before or
 * after that.
 */

const [place = '', what = ''] = process.argv.slice(2)
const { audit, keys } = openPlace(JSON.parse(place) as PlaceOfPersons)
// The keys answer once before, so that the time until the kill is spent with erasing.
await keys.rotatedAt()
await audit.get('x')
const began = performance.now()
process.stdout.write('begin\n')
await audit.erase(JSON.parse(what) as { readonly customer: string }, REQUEST)
process.stdout.write(`done ${performance.now() - began}\n`)
setInterval(() => {}, 1000)
