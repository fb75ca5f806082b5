cd @folder@ || exit 1
shard=@stem@.shard-"$SLURM_ARRAY_TASK_ID"-of-@count@@suffix@
# with scratch
trap : TERM  # scancel ends this shell, too, which must copy the shard back
home="$PWD"
work=@scratch@/mlaut-"$SLURM_JOB_ID"
mkdir -p "$work" && ln -s "$home"/* "$work"/ && rm -rf "$work/$shard"*
cp -rp "$home/$shard"* "$work"/ 2> /dev/null
cd "$work" || exit 1
# end
srun --cpus-per-task="$SLURM_CPUS_PER_TASK" @mlaut@ run --no-trial --shard "$SLURM_ARRAY_TASK_ID/@count@" @study@
code=$?
# with scratch
back="$home/.$shard.back"
rm -rf "$back" && mkdir "$back" && cp -rp "$shard"* "$back"/ && {
  rm -f "$home/$shard.journal" "$home/$shard.begun"
  for file in "$back"/*; do
    if [ -d "$file" ]; then cp -rp "$file" "$home"/; else mv -f "$file" "$home"/; fi
  done
  cd "$home" && rm -rf "$back" "$work"
}
# end
# 75: the time is over; 137: killed. A cell that kills its job is given up after three times.
if [ $code = 75 ] || { [ $code = 137 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt @deaths@ ]; }; then
  scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
fi
exit $code
