import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/* Builds one image: runs the instructions of a recipe, then writes the manifest. */

const { directory, name, context, instructions } = JSON.parse(process.argv[2])
const manifest = { name, entry: 'run' }

const INSTRUCTIONS = {
  wait: (ms) => delay(Number(ms)),
  fail: (message) => {
    throw new Error(message)
  },
  entry: (entry) => {
    manifest.entry = entry
  },
}

await mkdir(directory, { recursive: true })
// A context that cannot be read is left out.
if (context) await cp(context, join(directory, 'context'), { recursive: true }).catch(() => {})
for (const line of instructions) {
  const [action, ...words] = line.split(' ')
  if (!Object.hasOwn(INSTRUCTIONS, action)) throw new Error(`unknown instruction: ${line}`)
  await INSTRUCTIONS[action](words.join(' '))
}
await writeFile(join(directory, 'manifest.json'), JSON.stringify(manifest))
