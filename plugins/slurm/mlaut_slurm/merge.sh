cd @folder@ || exit 1
@mlaut@ merge @stem@.shard-{1..@count@}-of-@count@@suffix@ @old@-o @new@ && mv -f @new@ @output@
