import type { Command } from '../call/command.js'

export const clean: Command = {
  name: 'clean',
  summary: 'run cleaning rules, or show what they would remove',
  description:
    'Takes the rules from the module of --config. Without --yes, or with --dry-run, it only shows what each of them would remove. A rule that a service is running at the moment is skipped.',
  arguments: [],
  options: [
    { flags: '--rule <name>', description: 'only this rule', repeatable: true },
    { flags: '--yes', description: 'remove the events' },
    {
      flags: '--dry-run',
      description: 'show what each rule would remove, and remove nothing, as without --yes',
    },
    {
      flags: '--accept-clock',
      description:
        'with --yes: the clock is right, so rules by age do not wait because it is far from the log',
    },
  ],
  targets: ['sqlite', 'postgres'],
  examples: [
    {
      run: 'daybook clean audit.db --config audit.config.js --dry-run',
      says: 'what the rules would remove now',
    },
    {
      run: 'daybook clean audit.db --config audit.config.js --rule debug --yes',
      says: 'run one rule',
    },
  ],
  load: () => import('../run/clean.js'),
}
