import { describe, expect, it } from 'vitest';
import { empty, entryOf, type Listed, type Provider, providersOf, valuesOf } from './data';

const provider = (name: string, needs_key: boolean): Provider => ({
  name,
  title: name,
  needs_key,
  key_variables: [],
  key_in_environment: '',
  base_url: '',
  needs_base_url: !needs_key,
  models: [],
});

describe('a model', () => {
  it('is added with what was filled in, and nothing else', () => {
    expect(entryOf({ ...empty, way: 'openai', provider: 'openai', model: ' gpt ', api_key: ' sk-1\n' })).toEqual({
      provider: 'openai',
      model: 'gpt',
      api_key: 'sk-1',
    });
    expect(
      entryOf({
        ...empty,
        provider: 'vllm',
        model: 'q',
        base_url: 'http://h',
        name: 'own',
        display_name: 'Own',
        context_window: '32768',
      }),
    ).toEqual({
      provider: 'vllm',
      model: 'q',
      base_url: 'http://h',
      name: 'own',
      settings: { display_name: 'Own', context_window: 32768 },
    });
  });

  it('keeps its name, its key and the settings that the form does not show when it is changed', () => {
    const was = {
      name: 'own',
      provider: 'vllm',
      model: 'q',
      base_url: 'http://h',
      settings: { temperature: 0.2, max_tokens: 100, display_name: 'Own' },
    } as unknown as Listed;
    expect(valuesOf(was)).toMatchObject({ name: 'own', api_key: '', max_tokens: '100', display_name: 'Own' });
    expect(entryOf({ ...valuesOf(was), name: 'other', max_tokens: '', model: 'r' }, was)).toEqual({
      provider: 'vllm',
      model: 'r',
      base_url: 'http://h',
      name: 'own',
      settings: { temperature: 0.2, display_name: 'Own' },
    });
  });

  it('has a way by which each provider is offered once', () => {
    const all = [
      provider('openai', true),
      provider('mistral', true),
      provider('vllm', false),
      provider('compatible', false),
      provider('codex', false),
    ];
    const names = (['openai', 'others', 'server'] as const).map((w) => providersOf(all, w).map((p) => p.name));
    expect(names).toEqual([['openai'], ['mistral', 'codex'], ['compatible', 'vllm']]);
    expect(names.flat().sort()).toEqual(all.map((p) => p.name).sort());
  });
});
