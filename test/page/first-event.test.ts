import fs from 'node:fs'
import { expect, inject, it, onTestFinished } from 'vitest'
import { openPage } from '../support/browser.js'
import { runScript } from '../support/child.js'
import { blocksOf, docPages } from '../support/doc-pages.js'
import { tempDir } from '../support/temp.js'
import { rowsOf } from './shown.js'

/* Runs the first script of the documentation as it is, except for the port and the file. */
it('the first script of Getting started shows its event on the page', async () => {
  const temp = tempDir()
  onTestFinished(temp.remove)
  const page = docPages.find(({ file }) => file === 'docs/guide/getting-started.md')!
  const code = blocksOf(page, 'ts')[0]!
    .code.replace(
      'listen(3000)',
      'listen(0, function () { console.log(this.address().port, "is open") })',
    )
    .replace('audit.db', temp.file('audit.db'))
  fs.mkdirSync(temp.file('node_modules'))
  fs.symlinkSync(inject('compiledFolder'), temp.file('node_modules/daybook'))
  fs.writeFileSync(temp.file('first.mjs'), code)
  const child = runScript(temp.file('first.mjs'), [])
  onTestFinished(() => child.kill())

  await child.saw('is open')
  const shown = await openPage(`http://127.0.0.1:${Number.parseInt(child.stdout())}/audit`, {
    httpCredentials: { username: 'ann', password: 'secret' },
  })
  const row = rowsOf(shown).first()
  await row.waitFor()
  expect(await row.textContent()).toContain('api:orders:create')
  expect(child.stderr()).toBe('')
})
