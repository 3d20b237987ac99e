// The chips of a composer: how to work, and which model thinks.
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api } from '../../lib/api/client';
import { define, useWords } from '../../lib/i18n';
import { Icon, type IconName } from '../../ui/Icon';
import { Menu } from '../../ui/Menu';
import type { Mode, Options } from '../talk/requests';

const words = define(
  {
    how: 'How to work',
    model: 'Model',
    effort: 'How long to think',
    quick: 'Quick',
    quickHint: 'Answers at once, few tools',
    think: 'Think',
    thinkHint: 'Thinks before each step',
    plan: 'Plan',
    planHint: 'Makes a plan and works through it',
    team: 'Team',
    teamHint: 'Plans, and lets sub-agents work side by side',
    low: 'Little',
    medium: 'Some',
    high: 'Much',
  },
  {
    how: '工作方式',
    model: '模型',
    effort: '思考深度',
    quick: '快速',
    quickHint: '立即回答，少用工具',
    think: '思考',
    thinkHint: '每一步之前先思考',
    plan: '计划',
    planHint: '先制定计划，再逐项完成',
    team: '团队',
    teamHint: '制定计划，并让子代理同时工作',
    low: '较少',
    medium: '适中',
    high: '较多',
  },
);

const modes: [Mode, IconName][] = [
  ['quick', 'up'],
  ['think', 'think'],
  ['plan', 'plan'],
  ['team', 'fork'],
];

/** The models that a run may name; they change when the configuration does. */
export const useModels = () =>
  useQuery({ queryKey: ['models'], queryFn: () => api('get', '/models'), staleTime: 60_000 });

interface ChipsProps {
  options: Options;
  change: (some: Options) => void;
}

export function Chips({ options, change }: ChipsProps): ReactNode {
  const w = useWords(words);
  const { data } = useModels();
  const models = data?.models ?? [];
  const model = models.find((m) => m.name === options.model) ?? models[0];
  const mode = options.mode ?? 'think';
  return (
    <>
      <Menu
        className="chip"
        title={w.how}
        items={modes.map(([key, icon]) => ({
          key,
          icon,
          label: w[key],
          hint: w[`${key}Hint`],
          on: key === mode,
          choose: () => change({ mode: key }),
        }))}
      >
        <Icon name={modes.find(([m]) => m === mode)?.[1] ?? 'think'} />
        {w[mode]}
        <Icon name="down" className="i car" />
      </Menu>
      {model && models.length > 1 && (
        <Menu
          className="chip"
          title={w.model}
          items={models.map((m) => ({
            key: m.name,
            label: m.display_name || m.name,
            ...(m.description ? { hint: m.description } : {}),
            on: m === model,
            choose: () => change({ model: m.name }),
          }))}
        >
          <span className="cut">{model.display_name || model.name}</span>
          <Icon name="down" className="i car" />
        </Menu>
      )}
      {model?.supports_reasoning_effort && mode !== 'quick' && (
        <Menu
          className="chip not-narrow"
          title={w.effort}
          items={(['low', 'medium', 'high'] as const).map((e) => ({
            key: e,
            label: w[e],
            on: (options.effort ?? 'medium') === e,
            choose: () => change({ effort: e }),
          }))}
        >
          {w[(options.effort as 'low' | 'medium' | 'high' | undefined) ?? 'medium']}
          <Icon name="down" className="i car" />
        </Menu>
      )}
    </>
  );
}
