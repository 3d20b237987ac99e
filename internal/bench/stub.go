package main

import "context"

func measureCommit(ctx context.Context, e env, r *report) error  { return nil }
func measureThread(ctx context.Context, e env, r *report) error  { return nil }
func measureSize(ctx context.Context, e env, r *report) error    { return nil }
func measureSandbox(ctx context.Context, e env, r *report) error { return nil }
func measureStart(ctx context.Context, e env, r *report) error   { return nil }
